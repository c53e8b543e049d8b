-- Closes an open latch until it has been counted down this many times. If asked again under the same note, returns the same answer.
-- KEYS latch, channel, note
-- ARGV amount (count text), publish
-- returns integer 1 closed, 0 if it was closed before

local before = textOf(note)
if before then
  return whole(before) or 0
end
local closed = redis.call('EXISTS', latch) == 0 and 1 or 0
redis.call('SET', note, closed, 'PX', NOTE_TIME)
if closed == 0 then
  return 0
end
redis.call('SET', latch, amount)
redis.pcall(publish, channel, '1')
return 1
