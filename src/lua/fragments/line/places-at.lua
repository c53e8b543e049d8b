-- Places of a line from `first` on, `most` of them, or less where they are longer than wire names: another program may have written megabytes
-- there. And how many names of the longest would have taken as many bytes.
local function placesAt(queue, first, most)
  local some, bytes, till = {}, 0, math.min(first > 0 and 16 or 4, most)
  repeat
    local few = redis.call('LRANGE', queue, first + #some, first + till - 1)
    for _, owner in ipairs(few) do some[#some + 1], bytes = owner, bytes + #owner end
    local more = #some == till and till < most and bytes <= LONGEST_NAME * till
    till = math.min(4 * till, till + 64, most)
  until not more
  return some, bytes / LONGEST_NAME
end
