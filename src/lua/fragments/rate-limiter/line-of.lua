-- The line of those that wait for permits of a limiter, as a script sees it now. `counted`: this server knows of all that listen.
local function lineOf(order, places, grants, publish, counted)
  local time = redis.call('TIME')
  return {
    order = order, places = places, grants = grants, publish = publish, counted = counted == '1',
    stamp = time[1] * 1000000 + time[2], now = time[1] * 1000 + math.floor(time[2] / 1000),
  }
end
