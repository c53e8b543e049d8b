-- For how many ms the longest of these reads goes on; 0 if none does. `fields` has owners, and how often each reads, in turn. Stops as soon
-- as one read has `enough`, or when `work.looks`, of which each look takes one, is used up. Each level of a read has a key of its own, and
-- a write has none. What is not a count was written by another program.
local function longestRead(fields, companion, enough, work)
  local longest = 0
  for i = #fields - 1, 1, -2 do
    work.looks = work.looks - 1 - math.floor((#fields[i] + #fields[i + 1]) / 500)
    -- The id of a client, ours or Redisson's, is a UUID. A name longer than their reads have was written by another program.
    local reads = #fields[i] < LONGEST_NAME and string.sub(fields[i], 37, 37) == ':' and string.sub(fields[i], -6) ~= ':write'
    local level = reads and string.find(fields[i + 1], LEVEL_COUNT) and tonumber(fields[i + 1]) or 0
    while level > 0 and work.looks > 0 do
      work.looks = work.looks - 1
      longest = math.max(longest, leftOf(companion .. ':' .. fields[i] .. ':rwlock_timeout:' .. level))
      if longest >= enough and longest > 0 then
        return longest
      end
      level = level - 1
    end
  end
  return longest
end
