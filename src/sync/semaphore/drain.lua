-- Acquires all permits there are, or makes good a debt. Keeps the expiry. If asked again under the same note, returns the same answer.
-- KEYS permits, note
-- returns integer permits acquired, negative if there was a debt

local before = textOf(note)
if before then
  return whole(before) or 0
end
local available = textOf(permits) or '0'
if not whole(available) then
  return redis.error_reply('WRONGKIND a text that is no count')
end
redis.call('SET', note, available, 'PX', NOTE_TIME)
if available ~= '0' then
  orUndo(function()
    redis.call('DEL', note)
  end, redis.call, 'DECRBY', permits, available)
end
return whole(available)
