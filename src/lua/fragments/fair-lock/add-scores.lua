-- Scores and members in turn, many in one command.
local function addScores(key, scores)
  for i = 1, #scores, 1000 do
    redis.call('ZADD', key, unpack(scores, i, math.min(i + 999, #scores)))
  end
end
