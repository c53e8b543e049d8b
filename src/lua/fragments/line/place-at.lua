-- The place `i` of a line, where those before it are `known`: a few are read at a time, and none behind half a megabyte, for another program may
-- have written that there.
local function placeAt(queue, known, i)
  if i > #known and not known.ends then
    local few = redis.call('LRANGE', queue, #known, #known + (known[1] and 3 or 1))
    for _, owner in ipairs(few) do known[#known + 1], known.bytes = owner, (known.bytes or 0) + #owner end
    known.ends = not few[1] or known.bytes > LONGEST_READ
  end
  return known[i]
end
