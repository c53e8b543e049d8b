-- Places of a line from `first` on, `most` of them. Reads a few at a time, and stops after half a megabyte, because another program may
-- have written megabytes there. Also returns how many of the longest names would have taken as many bytes.
local function placesAt(queue, first, most)
  local some, bytes = {}, 0
  repeat
    local part = math.min(first + #some > 0 and 4 or 2, most - #some)
    local few = redis.call('LRANGE', queue, first + #some, first + #some + part - 1)
    for _, owner in ipairs(few) do some[#some + 1], bytes = owner, bytes + #owner end
  until #few < part or #some >= most or bytes > LONGEST_READ
  return some, math.floor(bytes / LONGEST_NAME)
end
