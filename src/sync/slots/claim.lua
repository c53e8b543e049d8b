-- Claims a slot for this run: one that nobody has claimed yet, or one whose run has died, up to `most` attempts. Only the holder of its
-- lock may claim it. If the same run asks again (a reply was lost), returns the same answer.
-- KEYS slot, lock, counter, last
-- ARGV owner, run, most (count), due, kept (ms text), known
--   due: ms since the epoch, or empty
-- returns [digits token, integer attempt] | nil ended, run by another, or tried too often

local there = shortFields(slot, 'state', 'run', 'attempt', 'token')
if not there[1] and redis.call('EXISTS', slot) == 1 then
  return redis.error_reply('WRONGKIND a hash of another program')
end
local attempt = 0
if there[1] then
  attempt = whole(there[3] or '') or 0
  if there[1] == 'running' and there[2] == run and isToken(there[4]) then
    return { there[4], attempt }
  end
  if there[1] ~= 'running' or attempt >= most or attempt < 1 then
    return nil
  end
end
if redis.call('HEXISTS', lock, owner) == 0 then
  return nil
end
local token = newToken(counter, known)
if type(token) == 'table' then
  return token
end
attempt = attempt + 1
redis.call('HSET', slot, 'state', 'running', 'run', run, 'attempt', attempt, 'token', token, 'began', serverNow())
if there[2] then
  redis.call('HSET', slot, 'before', there[2])
end
orUndo(function()
  if attempt == 1 then
    redis.call('UNLINK', slot)
  end
end, redis.call, 'PEXPIRE', slot, kept)
saveNewestDue(last, due)
return { token, attempt }
