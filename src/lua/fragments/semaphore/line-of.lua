-- The line of those that wait for permits, as a script of this client sees it now. `own`: 1, the client may be counted among those
-- that listen; 2, it hears no messages; 3, this server does not know of all that listen. `added`: how many of the permits that are
-- left this step has added itself.
local function lineOf(keys, voices, client, own)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return {
    permits = keys[1], queue = keys[2], deadlines = keys[3], amounts = keys[4], turn = keys[5],
    channel = voices[1], grants = voices[2], publish = voices[3], client = string.sub(client, 1, 36), own = own == 1 and 1 or 0,
    stamp = time[1] .. string.format('%06d', time[2]), now = now,
    allowance = ALLOWANCE, left = 0, added = 0, granted = {}, visits = 0, counted = own ~= 3, first = redis.pcall('LINDEX', keys[2], 0),
  }
end
