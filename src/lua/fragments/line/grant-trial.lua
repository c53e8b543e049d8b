-- Lets an owner in on trial where its client hears it; whether that is so. A writer is told, too, which writers of its client
-- stand right behind it in this part of the line, and a + where others follow. `line.deaf`: where nobody listened a moment
-- ago.
local function grantTrial(line, owner, wants, deadline, some, place)
  local channel, trial = grantChannel(line, owner), line.now + TRIAL_MARKED
  local words = { owner, line.stamp }
  -- Who was passed over may come back in between.
  for i = place + 1, wants == 'write' and not next(line.deaf) and #some or 0 do
    local same = #some[i] < LONGEST_NAME and grantChannel(line, some[i]) == channel
    words[#words + 1] = same and some[i] or '+'
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
