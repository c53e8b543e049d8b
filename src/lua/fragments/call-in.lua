-- Lets an owner in on trial where its client hears it; whether that is so. A writer is told, too, which writers of its client
-- stand right behind it in this part of the line, and a + where others follow. `line.deaf`: where nobody listened a moment
-- ago.
local function callIn(line, owner, deadline, some, place)
  local client, side = string.sub(owner, 1, 36), string.sub(owner, -6) == ':write' and ':write' or ''
  local voice, trial = line.grants .. ':' .. client .. side, line.now + 3000.5
  -- Before anybody is told: it is this that is refused where the server is out of memory.
  redis.call('ZADD', line.deadlines, math.min(deadline, trial), owner)
  local words = { owner, line.stamp }
  -- Who was passed over may come back in between.
  for i = place + 1, side ~= '' and not next(line.deaf) and #some or 0 do
    local same = string.sub(some[i], 1, 36) == client and string.sub(some[i], -6) == side
    words[#words + 1] = same and some[i] or '+'
    if not same then break end
  end
  if line.deaf[voice] or not tellWhose(line, voice, words) then
    line.deaf[voice] = true
    return false
  end
  if deadline < trial then
    redis.call('ZADD', line.deadlines, trial, owner)
  end
  letIn(line, owner, 3000)
  return true
end
