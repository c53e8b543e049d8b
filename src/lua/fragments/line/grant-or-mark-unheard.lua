-- Grants to an owner on trial if its client listens, and returns whether it does. The message to a writer also names the writers of its
-- client right behind it; a + means that others follow. `line.deaf`: the channels on which nobody listened a moment ago.
local function grantOrMarkUnheard(line, owner, wants, deadline, place)
  local channel, trial = grantChannel(line, owner), line.now + TRIAL_MARKED
  local words = { owner, line.stamp }
  -- Not if places were skipped: they may come back in between.
  for i = place + 1, wants == 'write' and not next(line.deaf) and place + 64 or 0 do
    local behind = line.placeAt(i)
    if not behind then break end
    local same = grantChannel(line, behind) == channel
    words[#words + 1] = same and behind or '+'
    if not same then break end
  end
  local function write()
    grant(line, owner, TRIAL)
  end
  local heard = not line.deaf[channel] and publishGrant(line, channel, words, write, deadline)
  redis.call('ZADD', line.deadlines, heard and trial or math.min(deadline, trial), owner)
  line.deaf[channel] = not heard or nil
  return heard
end
