-- Lets an owner in on trial where its client hears it; whether that is so. A writer is told, too, which writers of its client
-- stand right behind it in this part of the line, and a + where others follow. `line.deaf`: where nobody listened a moment
-- ago.
local function callIn(line, owner, wants, deadline, some, place)
  local voice, trial = voiceOf(line, owner), line.now + TRIAL_MARKED
  local words = { owner, line.stamp }
  -- Who was passed over may come back in between.
  for i = place + 1, wants == 'write' and not next(line.deaf) and #some or 0 do
    local same = voiceOf(line, some[i]) == voice
    words[#words + 1] = same and some[i] or '+'
    if not same then break end
  end
  local function grant()
    letIn(line, owner, TRIAL)
  end
  local heard = not line.deaf[voice] and tellWhose(line, voice, words, grant, line.anyway and line.anyway(deadline))
  redis.call('ZADD', line.deadlines, heard and trial or math.min(deadline, trial), owner)
  line.deaf[voice] = not heard or nil
  return heard
end
