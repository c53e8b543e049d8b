-- What a count comes to with so many more; nil where the text is no count, or would be none that scripts may reply.
local function countWith(text, more)
  local count = whole(text)
  return count and math.abs(count + more) <= MAX_SAFE_INTEGER and count + more or nil
end
