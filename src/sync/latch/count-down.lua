-- One less to wait for; at none, it opens and all who wait are told. Asked again under the same note, it counts once.
-- KEYS latch, channel, note
-- ARGV publish
-- returns integer how many are left

-- A write that needs no memory: after it, a server short of memory lets the others pass.
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
