-- The newest computation of a key that has ended: its token, when and how it ended, and the form of its value. Nil if there is no complete
-- record that holdfast wrote, and then also whether another program's is there.
local function endedOf(record)
  local known = shortFields(record, 'token', 'ended', 'state', 'form')
  local token, ended, form = isToken(known[1]) and known[1], whole(known[2] or nil), known[4]
  local ours = (known[3] == 'value' or known[3] == 'failed') and (form == 'none' or form == 'text' or form == 'base64')
  if ours and token and ended and redis.call('HEXISTS', record, 'value') == 1 and redis.call('HSTRLEN', record, 'value') <= LONGEST_VALUE then
    return token, ended, known[3], form
  end
  return nil, not (known[1] and known[2] and form) and redis.call('EXISTS', record) == 1
end
