-- Whether this owner holds all of its keys, and none of them has expired.
local function isHolder(line, owner)
  local set = wantsOf(line, owner, FIELD_AND_BLANK * line.work)
  local first = string.match(set or '', '%S+') or ''
  if not set or line.over and line.over[first] or redis.call('HGET', line.lock, first) ~= owner then
    return false
  end
  local fields = fieldsOf(line, owner)
  line.work = line.work - math.max(#fields, #set / FIELD_AND_BLANK)
  local ends = endsOf(line.lock, fields, owner)
  for i = 1, #fields do
    if (ends[i] or 0) <= line.now then return false end
  end
  return true
end
