-- The fields of the rate that is set under a key. Nil where none is, and what to say where something else stands there: a rate
-- is written whole. What other fields hold comes behind its own.
local function rateOf(key, ...)
  local set = redis.call('HMGET', key, 'rate', 'interval', 'type', 'keepAliveTime', ...)
  if set[1] and set[2] and set[3] then
    return set
  end
  return nil, redis.call('EXISTS', key) == 1 and wrongKind(key)
end
