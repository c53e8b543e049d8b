-- Adds members to a sorted set. `scores` has scores and members in turn; one command adds up to 500 members.
local function addScores(key, scores)
  for i = 1, #scores, 1000 do
    redis.call('ZADD', key, unpack(scores, i, math.min(i + 999, #scores)))
  end
end
