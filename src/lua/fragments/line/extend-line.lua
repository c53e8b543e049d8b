-- The keys of a line have an expiry, since those who died in it may be all there is: a minute behind the last deadline, which is looked
-- up where it is not given; a day where Redisson's wait, too, who do not ask each second. A multi-lock of Redisson's may have set one
-- that is over while others wait.
local function extendLine(line, last)
  last = last or tonumber(redis.call('ZREVRANGE', line.deadlines, 0, 0, 'WITHSCORES')[2] or 0)
  -- `companion`: only ours can be in this line.
  local after = line.companion and 60000 or 86400000
  -- A deadline further away than a year is none.
  local till = math.max(line.now, math.min(math.ceil(last), line.now + 31536000000)) + after
  redis.call('PEXPIREAT', line.queue, till)
  redis.call('PEXPIREAT', line.deadlines, till)
  if line.sets then redis.call('PEXPIREAT', line.sets, till) end
end
