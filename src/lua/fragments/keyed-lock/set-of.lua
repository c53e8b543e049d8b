-- What a place wants, one field behind the other: as it says itself, or said when it came. False where another program or the
-- server has deleted that: it says so again when it asks. Nil where it is longer than `most` bytes.
local function setOf(line, owner, most)
  if line.wants[owner] == nil then
    local length = redis.call('HSTRLEN', line.sets, owner)
    if length <= most then
      line.wants[owner] = length > 0 and redis.call('HGET', line.sets, owner)
    end
  end
  return line.wants[owner]
end
