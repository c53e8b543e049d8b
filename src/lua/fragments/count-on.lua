-- The token of whoever has a lock with this counter now, above all before it; the same one where it had it `again`. False where
-- a lock has none.
local function countOn(counter, known, again)
  if not counter then
    return false
  end
  raiseCounter(counter, known)
  if not again or redis.call('EXISTS', counter) == 0 then
    redis.call('INCR', counter)
  end
  -- As text: a number of Lua's is exact up to 2^53 only.
  return redis.call('GET', counter)
end
