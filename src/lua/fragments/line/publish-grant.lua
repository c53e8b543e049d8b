-- Writes a grant (`write`), then publishes it to its client. `words`: the owner, and what else the client must know. A hash of them
-- with the whole owner is added. No message shows the whole owner, so only somebody who can read the keys can make that hash. If the
-- client does not hear the grant (`isHeard`; `deadline` is that of the place), returns false and writes nothing; in case it listens
-- all the same, a '0' makes it ask.
local function publishGrant(line, channel, words, write, deadline)
  local heard, owner = isHeard(line, channel, deadline), words[1]
  if heard then
    -- Owners by their running numbers, which follow the client's id and nine digits.
    for i, word in ipairs(words) do words[i] = string.match(word, '^%d+', 47) or word end
    words[#words + 1] = string.sub(redis.sha1hex(owner .. ' ' .. table.concat(words, ' ')), 1, 16)
    -- First: if the server refuses the write, no message is sent.
    write()
  end
  redis.pcall(line.publish, channel, heard and table.concat(words, ' ') or '0')
  return heard
end
