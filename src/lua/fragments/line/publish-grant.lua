-- Writes a grant (`write`), then publishes it to the client it is for: `words` are the owner, what else the client has to know, and at
-- last a hash of both with the whole owner, which no message shows: who made it can read the keys. False, and nothing is written, where
-- the client does not hear it (`isHeard`; `deadline` is that of the place); who hears it all the same is only told to ask ('0').
local function publishGrant(line, channel, words, write, deadline)
  local heard, owner = isHeard(line, channel, deadline), words[1]
  if heard then
    -- Owners by their running numbers, which stand behind the client's id and nine digits.
    for i, word in ipairs(words) do words[i] = string.match(word, '^%d+', 47) or word end
    words[#words + 1] = string.sub(redis.sha1hex(owner .. ' ' .. table.concat(words, ' ')), 1, 16)
    -- First: where the server refuses to write, nobody is told.
    write()
  end
  redis.pcall(line.publish, channel, heard and table.concat(words, ' ') or '0')
  return heard
end
