-- Whether somebody listens where a place's client hears of grants.
local function isHeard(line, channel)
  local counted = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)
  return (counted[2] or 0) > 0
end
