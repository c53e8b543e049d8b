-- How many ms a key has left, as PTTL replies, but never more than a client can read: anybody may have set any expiry.
local function leftOf(key)
  return math.min(redis.call('PTTL', key), MAX_SAFE_INTEGER)
end
