-- How many permits a note says were acquired, or, without a note, how many there are now: false if none are set, nil if something else is
-- stored there. Also returns whether there is a note.
local function notedOrAvailable(permits, note)
  local noted = redis.call('GETRANGE', note, 0, 31)
  local text = noted ~= '' and noted or textOf(permits)
  return text and whole(text), noted ~= ''
end
