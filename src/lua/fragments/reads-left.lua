-- For how many ms the longest of these reads goes on, or at least `enough`; 0 when none does. Each level of a read has a key
-- of its own, a write and the mode have none.
local function readsLeft(fields, companion, enough)
  local longest = 0
  for i = #fields - 1, 1, -2 do
    for level = tonumber(fields[i + 1]) or 0, 1, -1 do
      if longest >= enough and longest > 0 then
        return longest
      end
      local left = redis.call('PTTL', companion .. ':' .. fields[i] .. ':rwlock_timeout:' .. level)
      longest = math.max(longest, left)
    end
  end
  return longest
end
