-- Who holds a lock that one owner has at a time; false when it is free, nil when what stands there is no such lock: an owner,
-- and how often it holds, which comes second.
local function holderOf(lock)
  local fields = redis.call('HLEN', lock)
  local held = fields == 1 and redis.call('HGETALL', lock)
  if held and #held[2] < 20 and string.find(held[2], '^[1-9]%d*$') then
    return held[1], held[2]
  elseif fields == 0 then
    return false
  end
end
