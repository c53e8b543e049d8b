-- Tells a client of ours which of its owners has the lock, and what else it is to know; false: this server knows of nobody who
-- hears that, or must not say. Whoever hears it all the same, from a replica or another node, is told no more than to ask.
local function tellWhose(line, voice, words)
  local heard = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', voice)[2] or 0
  local told = redis.pcall(line.publish, voice, heard > 0 and table.concat(words, ' ') or words[1])
  return heard > 0 and told ~= 0
end
