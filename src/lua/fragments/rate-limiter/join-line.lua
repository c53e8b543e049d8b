-- Puts an owner in the line: at the end if it did not stand there, or if it has just had its turn (`again`). Returns
-- how many places are before it.
local function joinLine(line, owner, again)
  local score = not again and redis.call('ZSCORE', line.order, owner)
  if not score then
    local function last()
      return tonumber(redis.call('ZREVRANGE', line.order, 0, 0, 'WITHSCORES')[2]) or 0
    end
    if last() > line.stamp + 60000000 then
      -- Nobody can have joined that far in the future.
      redis.call('ZREMRANGEBYRANK', line.order, -16, -1)
    end
    score = string.format('%.0f', math.max(line.stamp, last() + 1))
    orUndo(function()
      redis.call('ZREM', line.order, owner)
    end, function()
      redis.call('ZADD', line.order, score, owner)
      redis.call('PEXPIRE', line.order, RATE_LINE_TIME)
    end)
  else
    redis.call('PEXPIRE', line.order, RATE_LINE_TIME)
  end
  return redis.call('ZCOUNT', line.order, '-inf', '(' .. score)
end
