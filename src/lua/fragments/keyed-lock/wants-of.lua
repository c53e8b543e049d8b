-- What a place wants, as fields with blanks between them: what its owner says now, or said when it joined. False if another program or the
-- server has deleted that; the owner says it again when it asks. Nil if it is longer than `most` bytes.
local function wantsOf(line, owner, most)
  if line.wants[owner] == nil then
    local length = redis.call('HSTRLEN', line.sets, owner)
    if length <= most then
      line.wants[owner] = length > 0 and redis.call('HGET', line.sets, owner)
    end
  end
  return line.wants[owner]
end
