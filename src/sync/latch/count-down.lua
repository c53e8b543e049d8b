-- Counts the latch down by one; at zero, it opens and wakes up all waiters. If asked again under the same note, counts only once.
-- KEYS latch, channel, note
-- ARGV publish
-- returns integer the count that is left

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  return math.max(0, whole(textOf(latch)) or 0)
end
local before = textOf(latch)
if before and not whole(before) then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local left = before and redis.call('DECR', latch) or 0
redis.call('SET', note, 1, 'PX', NOTE_TIME)
if left > 0 or not before then
  return left
end
redis.call('DEL', latch)
redis.pcall(publish, channel, '0')
return 0
