-- The newest computation of a key that has ended: its token, when that was, and how; nil where nothing stands there that we have written.
-- A token that another program wrote must not be the last number that there is: the next one is above it.
local function endedOf(record)
  local known = redis.call('HMGET', record, 'token', 'ended', 'state', 'form')
  local token, ended = whole(known[1] or nil), whole(known[2] or nil)
  local ours = (known[3] == 'value' or known[3] == 'failed') and (known[4] == 'none' or known[4] == 'text' or known[4] == 'base64')
  if ours and token and ended and token > 0 and token < 1000000000000000 and redis.call('HSTRLEN', record, 'value') <= LONGEST_FLIGHT_VALUE then
    return token, ended, known[3], known[4]
  end
end
