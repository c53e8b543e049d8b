-- Sets the expiry of a line's keys, because dead clients may be all that is left in it: a minute after the last deadline, which is looked
-- up if it is not given. If Redisson's clients wait there, too, it is a day, because they do not ask each second. A multi-lock of Redisson
-- may have set an expiry that ends while others wait.
local function extendLine(line, last)
  last = last or tonumber(redis.call('ZREVRANGE', line.deadlines, 0, 0, 'WITHSCORES')[2] or 0)
  -- `companion`: only our clients can be in this line.
  local after = line.companion and 60000 or 86400000
  -- A deadline more than a year away is not believed.
  local till = math.max(line.now, math.min(math.ceil(last), line.now + 31536000000)) + after
  redis.call('PEXPIREAT', line.queue, till)
  redis.call('PEXPIREAT', line.deadlines, till)
  if line.sets then redis.call('PEXPIREAT', line.sets, till) end
end
