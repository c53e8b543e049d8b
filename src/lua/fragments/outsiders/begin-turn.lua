-- The lock is free: whether it is left to others now, who wait for a message and know of no line. That is so when ours have had it
-- for 58 ms, and until others have had as many visits, which may take them four times as long. Where none has been seen with it
-- for 3 s, it is only once a second, and for a moment. Who is first in the line is called, to hear when they are through.
local function beginTurn(line)
  local known = redis.pcall('HMGET', line.turn, 'since', 'came', 'after', 'visits')
  local visits, ours = math.min(whole(known[4]) or 0, 1000000) + line.visits, line.now - (whole(known[1]) or 0)
  if known[1] then
    redis.pcall('HSET', line.turn, 'visits', visits)
  end
  local comes, wait = math.abs(line.now - (whole(known[2]) or 0)) < COMES_AGAIN, (whole(known[3]) or 0) - line.now
  if ours >= 0 and ours < PASS_TIME or not comes and wait > 0 and wait <= 1000 then
    return false
  end
  local heard = (redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', line.channel)[2] or 0) - line.own
  local head = (heard > 0 or not line.counted) and (line.firstOf and line.firstOf(line) or redis.call('LINDEX', line.queue, 0))
  local told = head and redis.pcall(line.publish, grantChannel(line, head), '0')
  if heard <= 0 and not head or head and line.counted and (type(told) ~= 'number' or told == 0) then
    return false
  end
  local till = line.now + (comes and 4 * math.max(PASS_TIME, ours <= 250 and ours or 0) or head and PASS_TIME or 10)
  local opened = redis.pcall('HSET', line.turn, 'till', till, 'share', visits, 'after', line.now + 1000)
  -- That much longer than it may matter. Not without an end, also where that is refused.
  local ends = redis.pcall('PEXPIRE', line.turn, TURN_TIME) == 1
  if not ends then
    redis.pcall('DEL', line.turn)
  end
  return type(opened) == 'number' and ends
end
