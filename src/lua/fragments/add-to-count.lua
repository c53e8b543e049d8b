-- The sum of a count and `more`; nil if the text is not a count, or if the sum is beyond what scripts may reply.
local function addToCount(text, more)
  local count = whole(text)
  return count and math.abs(count + more) <= MAX_SAFE_INTEGER and count + more or nil
end
