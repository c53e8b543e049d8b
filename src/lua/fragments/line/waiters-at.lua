-- The waiters from this place of the line on, and their deadlines, in turn; an empty name if the owner `holds` the lock, or is not a wire
-- name. As many as one script may look at: if there are fewer, that is all.
local function waitersAt(queue, deadlines, first, holds)
  local waiting = {}
  for _, owner in ipairs(placesAt(queue, first, WAITERS_PART)) do
    local long = #owner >= LONGEST_NAME
    waiting[#waiting + 1] = (long or holds(owner)) and '' or owner
    waiting[#waiting + 1] = not long and redis.call('ZSCORE', deadlines, owner) or ''
  end
  return waiting
end
