-- So many permits are left, of which some have just come: they go to those in the line, or are left to others, who wait for a
-- message. What has come is there, whatever goes wrong here. `told`: of those others all were told already. What is not enough for
-- the first in the line is told as well: it may be so for them.
local function handOver(line, available, told)
  line.left = available
  pcall(function()
    noticeOutsiders(line)
    if turnLeft(line) > 0 or available > 0 and beginTurn(line) then
      redis.pcall('HSET', line.turn, 'value', available)
    else
      walkForPermits(line, {})
    end
  end)
  if not told then
    publishPermits(line.channel, line.publish, line.left)
  end
end
