-- This many permits are available, and some of them have just come. They go to the line, or are left to outsiders, who wait for a message.
-- Whatever goes wrong here, the permits stay in the count. `told`: all outsiders have the message already. Permits that are too few for the
-- first in the line are announced as well: an outsider may want fewer.
local function handOverPermits(line, available, told)
  line.left = available
  pcall(function()
    noticeOutsiders(line)
    if turnLeft(line) > 0 or available > 0 and beginTurn(line) then
      redis.pcall('HSET', line.turn, 'value', available)
    else
      grantPermits(line, {})
    end
  end)
  if not told then
    publishPermits(line.channel, line.publish, line.left)
  end
end
