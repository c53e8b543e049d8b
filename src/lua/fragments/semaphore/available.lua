-- How many permits a note says were taken, or else how many there are now: false where none are set, nil where something else
-- stands there. MGET says nothing of what is no text.
local function available(permits, note)
  local stored = redis.call('MGET', note, permits)
  local text = stored[1] or stored[2] or redis.call('GET', permits)
  return text and whole(text), stored[1] and true
end
