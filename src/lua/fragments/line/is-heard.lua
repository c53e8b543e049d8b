-- Whether the client of a place hears a grant on this channel: somebody listens there. Or the server cannot count the client, and yet it
-- asks. Then its deadline says when it asked last, and a mark says why it is not counted: it was skipped although it hears messages
-- (UNCOUNTED), or it hears none, is first, and asks every 100 ms (HEARS_NOTHING).
local function isHeard(line, channel, deadline)
  local counted = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)
  local silent, mark = line.now + ALLOWANCE - math.floor(deadline), deadline % 1
  return (counted[2] or 0) > 0 or silent >= 0 and (mark == UNCOUNTED and silent < TRIAL or mark == HEARS_NOTHING and silent < 500)
end
