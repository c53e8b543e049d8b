-- Grants the lock to an owner of one of our clients and tells that client, with whatever else it needs to know. It grants first:
-- where the server refuses to write, nobody is told. False: this server knows of no subscriber, or must not say, and nothing is
-- granted; whoever hears the message all the same, from a replica or another node, is only told to ask.
-- `anyway`: it is granted all the same.
-- Messages name owners by their running numbers; the last word is made of the whole owner, too, which no message shows, and so
-- proves that it comes from somebody who can read the keys.
local function publishGrant(line, channel, words, write, anyway)
  local heard, owner = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] or 0, words[1]
  heard = anyway and 1 or heard
  for i, word in ipairs(words) do words[i] = string.match(word, '^%d+', 47) or word end
  words[#words + 1] = string.sub(redis.sha1hex(owner .. ' ' .. table.concat(words, ' ')), 1, 16)
  if heard > 0 then
    write()
  end
  redis.pcall(line.publish, channel, heard > 0 and table.concat(words, ' ') or '0')
  return heard > 0
end
