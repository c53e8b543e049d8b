-- Tells a client of ours which of its owners has the lock, and what else it is to know; false: this server knows of nobody who
-- hears that, or must not say. Whoever hears it all the same, from a replica or another node, is told no more than to ask.
-- Owners are told by their running numbers; the last word is made of the whole owner, too, which no message shows, and so
-- proves that it comes from somebody who can read the keys.
local function tellWhose(line, voice, words)
  local heard, owner = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', voice)[2] or 0, words[1]
  for i, word in ipairs(words) do words[i] = string.match(word, '^%d+', 47) or word end
  words[#words + 1] = string.sub(redis.sha1hex(owner .. ' ' .. table.concat(words, ' ')), 1, 16)
  local told = redis.pcall(line.publish, voice, heard > 0 and table.concat(words, ' ') or '0')
  return heard > 0 and told ~= 0
end
