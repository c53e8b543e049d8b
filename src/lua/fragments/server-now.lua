-- The server's time, in ms since the epoch: clients' clocks differ.
local function serverNow()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
