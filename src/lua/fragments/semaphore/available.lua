-- How many permits a note says were taken, or else how many there are now: false where none are set, nil where something else
-- stands there.
local function available(permits, note)
  local noted = redis.call('GETRANGE', note, 0, 31)
  local text = noted ~= '' and noted or textOf(permits)
  return text and whole(text), noted ~= ''
end
