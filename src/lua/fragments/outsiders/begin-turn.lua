-- The lock is free: returns whether it is left to outsiders now, who wait for a message and know of no line. That is so once our clients
-- have had a whole turn, and until outsiders have had as many visits. Asks who listens on Redisson's channel, and writes the turn and its
-- end. The first in the line gets a message, so that it listens there and asks when they are through.
local function beginTurn(line)
  local known = redis.pcall('HMGET', line.turn, 'since', 'came', 'after', 'visits')
  local visits, ours = math.min(whole(known[4]) or 0, 1000000) + line.visits, line.now - (whole(known[1]) or 0)
  if known[1] then
    redis.pcall('HSET', line.turn, 'visits', visits)
  end
  local comes, wait = math.abs(line.now - (whole(known[2]) or 0)) < COMES_AGAIN, (whole(known[3]) or 0) - line.now
  -- Our turn goes on. Or no outsider was seen lately: then outsiders have a turn only once a second.
  if ours >= 0 and ours < PASS_TIME or not comes and wait > 0 and wait <= 1000 then
    return false
  end
  -- Outsiders listen, or that is not known; and a message reaches our first in the line, which then hears when they are through.
  local count = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', line.channel)
  local heard, head = (count[2] or 0) - line.own, line.lined ~= false and firstInLine(line)
  -- Who listens is unknown if the server may not say, or if it does not count the first in the line either, as a mark says.
  local sure = line.counted and not count.err and (tonumber(head and redis.call('ZSCORE', line.deadlines, head) or 0) or 0) % 1 ~= UNCOUNTED
  local told = head and (heard > 0 or not sure) and redis.pcall(line.publish, grantChannel(line, head), '0')
  if heard <= 0 and (sure or not head) or head and sure and (type(told) ~= 'number' or told == 0) then
    return false
  end
  -- The visits of outsiders may take four times as long as ours took; a turn of more than 250 ms counts as the pass time. If no outsider
  -- was seen, theirs lasts as long as one of our turns, or 10 ms if none of our clients waits.
  local till = line.now + (comes and 4 * math.max(PASS_TIME, ours <= 250 and ours or 0) or head and PASS_TIME or 10)
  local opened = redis.pcall('HSET', line.turn, 'till', till, 'share', visits, 'after', line.now + 1000)
  -- The key is kept longer than it may matter, but not without an expiry, even if the server refuses to set one.
  local ends = redis.pcall('PEXPIRE', line.turn, TURN_TIME) == 1
  if not ends then
    redis.pcall('UNLINK', line.turn)
  end
  return type(opened) == 'number' and ends
end
