-- Places of a line from `first` on, `most` of them: few at a time, and less where they come to half a megabyte, for another program may have
-- written megabytes there. And how many names of the longest would have taken as many bytes.
local function placesAt(queue, first, most)
  local some, bytes = {}, 0
  repeat
    local part = math.min(first + #some > 0 and 4 or 2, most - #some)
    local few = redis.call('LRANGE', queue, first + #some, first + #some + part - 1)
    for _, owner in ipairs(few) do some[#some + 1], bytes = owner, bytes + #owner end
  until #few < part or #some >= most or bytes > LONGEST_READ
  return some, math.floor(bytes / LONGEST_NAME)
end
