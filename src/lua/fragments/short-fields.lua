-- Fields of a hash, as HMGET returns them, but empty if one is longer than any that holdfast writes: another program
-- may have left megabytes there.
local function shortFields(key, ...)
  local fields = {}
  for i, field in ipairs({ ... }) do
    fields[i] = redis.call('HSTRLEN', key, field) > 255 and '' or redis.call('HGET', key, field)
  end
  return fields
end
