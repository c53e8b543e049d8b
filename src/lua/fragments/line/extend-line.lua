-- The line lasts a day longer than its last deadline, which is looked up where it is not given. It has an expiry, since those
-- who died in it may be all there is; and this one, since a multi-lock of Redisson's may have left one that is over while
-- others wait. With each poll of who lives it begins anew. Where only ours can be in it, who live show it each second, and a
-- minute does.
local function extendLine(line, last)
  last = last or tonumber(redis.call('ZREVRANGE', line.deadlines, 0, 0, 'WITHSCORES')[2] or 0)
  local after = line.companion and 60000 or 86400000
  local till = math.max(line.now, math.min(math.ceil(last), line.now + 31536000000)) + after
  redis.call('PEXPIREAT', line.queue, till)
  redis.call('PEXPIREAT', line.deadlines, till)
  if line.sets then redis.call('PEXPIREAT', line.sets, till) end
end
