-- Whether somebody listens where a place's client hears of grants.
local function isHeard(line, voice)
  local counted = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', voice)
  return (counted[2] or 0) > 0
end
