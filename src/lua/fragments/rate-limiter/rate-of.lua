-- The fields of the rate that is set under a key. Nil if there is none, with an error if something else is stored there: a rate is always
-- written whole. The values of further fields follow its own.
local function rateOf(key, ...)
  local set = redis.call('HMGET', key, 'rate', 'interval', 'type', 'keepAliveTime', ...)
  if set[1] and set[2] and set[3] then
    return set
  end
  return nil, redis.call('EXISTS', key) == 1 and wrongKind(key)
end
