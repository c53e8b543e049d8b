-- The lock is free: whether it is left to outsiders now, who wait for a message and know of no line. That is so when ours have had a whole
-- turn, until outsiders have had as many visits. Reads who listens on Redisson's channel, writes the turn and its end; whoever is first in
-- the line is told, to listen there and ask when they are through.
local function beginTurn(line)
  local known = redis.pcall('HMGET', line.turn, 'since', 'came', 'after', 'visits')
  local visits, ours = math.min(whole(known[4]) or 0, 1000000) + line.visits, line.now - (whole(known[1]) or 0)
  if known[1] then
    redis.pcall('HSET', line.turn, 'visits', visits)
  end
  local comes, wait = math.abs(line.now - (whole(known[2]) or 0)) < COMES_AGAIN, (whole(known[3]) or 0) - line.now
  -- Ours go on; or no outsider has been seen lately: then they have a turn once a second only.
  if ours >= 0 and ours < PASS_TIME or not comes and wait > 0 and wait <= 1000 then
    return false
  end
  -- Outsiders listen, or it is not known; and the first of ours in the line can be told when they are through.
  local count = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', line.channel)
  local heard, head = (count[2] or 0) - line.own, line.lined ~= false and firstOf(line)
  -- Who listens is not known where the server may not say, or does not count whoever is first either, as a mark says.
  local sure = line.counted and not count.err and (tonumber(head and redis.call('ZSCORE', line.deadlines, head) or 0) or 0) % 1 ~= UNCOUNTED
  local told = head and (heard > 0 or not sure) and redis.pcall(line.publish, grantChannel(line, head), '0')
  if heard <= 0 and (sure or not head) or head and sure and (type(told) ~= 'number' or told == 0) then
    return false
  end
  -- Visits of outsiders may take them four times as long as ours took, whose turn counts as one of 250 ms at most. If none has been
  -- seen, it is for as long as a turn of ours, or for a moment where nobody of ours waits.
  local till = line.now + (comes and 4 * math.max(PASS_TIME, ours <= 250 and ours or 0) or head and PASS_TIME or 10)
  local opened = redis.pcall('HSET', line.turn, 'till', till, 'share', visits, 'after', line.now + 1000)
  -- That much longer than it may matter. Not without an end, also where that is refused.
  local ends = redis.pcall('PEXPIRE', line.turn, TURN_TIME) == 1
  if not ends then
    redis.pcall('UNLINK', line.turn)
  end
  return type(opened) == 'number' and ends
end
