-- The holder of a lock that one owner has at a time, and how often it holds it. False if the lock is free; nil if what is
-- stored there is not such a lock.
local function holderOf(lock)
  local fields = redis.call('HLEN', lock)
  local held = fields == 1 and redis.call('HGETALL', lock)
  if held and #held[2] < 20 and string.find(held[2], '^[1-9]%d*$') then
    return held[1], held[2]
  elseif fields == 0 then
    return false
  end
end
