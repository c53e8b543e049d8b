-- Place `i` of a line; `known` has the places before it. Reads a few at a time, and none after half a megabyte, because another
-- program may have written that there.
local function placeAt(queue, known, i)
  if i > #known and not known.ends then
    local few = redis.call('LRANGE', queue, #known, #known + (known[1] and 3 or 1))
    for _, owner in ipairs(few) do known[#known + 1], known.bytes = owner, (known.bytes or 0) + #owner end
    known.ends = not few[1] or known.bytes > LONGEST_READ
  end
  return known[i]
end
