-- Writes how a run of a slot has ended, if the slot still belongs to that run, or its record is gone: work may
-- take longer than a record is kept.
-- KEYS slot
-- ARGV run, state, kept (ms text), attempt (count text), token
--   state: empty if it never began, and the slot becomes what it was before
--   token: empty if it never began
-- returns integer 1 written, 0 it belongs to another run, or is gone

local known = shortFields(slot, 'run', 'attempt', 'before')
local gone = redis.call('EXISTS', slot) == 0
if known[1] ~= run and not (gone and state ~= '') then
  return 0
end
if state == '' then
  local tried = whole(known[2] or '') or 1
  if tried > 1 then
    redis.call('HSET', slot, 'attempt', tried - 1, 'run', known[3] or '')
  else
    redis.call('UNLINK', slot)
  end
  return 1
end
if not gone then
  redis.call('PEXPIRE', slot, kept)
end
redis.call('HSET', slot, 'state', state, 'run', run, 'attempt', attempt, 'token', token, 'ended', serverNow())
if gone then
  orUndo(function()
    redis.call('UNLINK', slot)
  end, redis.call, 'PEXPIRE', slot, kept)
end
return 1
