-- Handles all owners that ask, each with its lease from `first` on: one that may hold does, one in the line is marked as alive, the others
-- join it or are refused. `held`: the lock was held before; `theirs`: by an outsider. `news`: 1, the outsiders have had their share, or
-- nobody hears them; 2, the client hears no grants; 3, both. Returns how the owners stand, in their order; for how many ms at most the lock
-- is left to outsiders; and for how many of their visits.
local function askAll(line, owners, first, joins, held, theirs, news)
  local open = turnLeft(line)
  line.hearsNothing, news = news >= 2, news % 2 == 1
  -- Only if the key exists, that is, if it may matter soon.
  if theirs and redis.pcall('HLEN', line.turn) ~= 0 then redis.pcall('HSET', line.turn, 'came', line.now) end
  local mine, waits = markAlive(line, owners, first), open > 0 and not held and not news
  local mode = waits and 'write' or grantInOrder(line, mine)
  -- If one of our clients holds the lock, its release grants it to the first in the line, which need not listen to anything else.
  local states = placeAll(line, owners, first, mine, mode, joins, (held or line.sets and not waits) and not (theirs or line.theirs) and 4 or 0)
  if not waits and not held and (line.entered or not line.sets and redis.call('EXISTS', line.lock) == 1) then
    endTurn(line)
  end
  local share = waits and tonumber(string.sub(redis.call('HGET', line.turn, 'share') or '', 1, 20)) or 0
  return states, waits and open or 0, share >= 0 and share <= 1000000 and share or 1
end
