-- Frees the lock of its owner, whatever the count, or takes who waits out of the line; what is free then goes to the next there,
-- or to those who wait for a message.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] turn
-- KEYS[5..] counter
-- ARGV[1] owner
-- ARGV[2] channel
-- ARGV[3] grants
-- ARGV[4] publish
-- ARGV[5] counted 1: this server knows of all who listen
-- ARGV[6] own (count) 1: the caller may be counted among those who listen
-- ARGV[7] visits (count) how many have had it in this process without a step on the server, the owner included
-- ARGV[8] known the newest token that the caller has seen; where the counter was deleted meanwhile it goes on from there
-- returns integer 1 freed, 0 only waited, -1 neither held nor waited
local lock, queue, deadlines, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local counter, owner, channel, grants, publish = KEYS, ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local counted, own, visits, known = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]

-- Where something else stands at the lock by now, whoever waits leaves the line all the same.
local freed = redis.pcall('HDEL', lock, owner)
if counter[5] and freed == 1 then
--include raise-counter
  raiseCounter(counter[5], known)
end
local lined = redis.call('EXISTS', queue) == 1
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = not lined and freed == 1 and redis.pcall(publish, channel, '0')
if not lined and (type(told) ~= 'number' or told <= own) then
  return freed == 1 and 1 or freed == 0 and -1 or freed
end
--include take-out
--include take-hold
--include keep-line
--include drop-clients
--include one/mode-of
--include one/is-in
--include one/let-in
--include one/enters-as
--include one/voice-of
--include tell-whose
--include call-in
--include serve-line
--include is-open
--include whole

-- The lock is free: whether it is left to others now, who wait for a message and know of no line. That is so when ours have had it
-- for 58 ms, and until others have had as many visits, which may take them four times as long. Where none has been seen with it
-- for 3 s, it is only once a second, and for a moment. Who is first in the line is called, to hear when they are through.
local function openUp(line)
  local known = redis.pcall('HMGET', line.turn, 'since', 'came', 'after', 'visits')
  local visits, ours = math.min(whole(known[4]) or 0, 1000000) + line.visits, line.now - (whole(known[1]) or 0)
  if known[1] then
    redis.pcall('HSET', line.turn, 'visits', visits)
  end
  local comes, wait = math.abs(line.now - (whole(known[2]) or 0)) < 3000, (whole(known[3]) or 0) - line.now
  if ours >= 0 and ours < 58 or not comes and wait > 0 and wait <= 1000 then
    return false
  end
  local heard = (redis.pcall('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] or 0) - line.own
  local head = (heard > 0 or not line.counted) and redis.call('LINDEX', line.queue, 0)
  local told = head and redis.pcall(line.publish, voiceOf(line, head), '0')
  if heard <= 0 and not head or head and line.counted and (type(told) ~= 'number' or told == 0) then
    return false
  end
  local till = line.now + (comes and 4 * math.max(58, ours <= 250 and ours or 0) or head and 58 or 10)
  local opened = redis.pcall('HSET', line.turn, 'till', till, 'share', visits, 'after', line.now + 1000)
  -- That much longer than it may matter. Not without an end, also where that is refused.
  local ends = redis.pcall('PEXPIRE', line.turn, 4500) == 1
  if not ends then
    redis.pcall('DEL', line.turn)
  end
  return type(opened) == 'number' and ends
end

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), visits = visits, own = own, counted = counted == '1',
}
local waited, open = false, false
-- Where something else stands at the line, what was freed is free all the same.
local done, trouble = pcall(function()
  waited = lined and takeOut(line, owner)
  open = freed == 1 and openUp(line) or freed == 0 and isOpen(line) > 0
  local head = open and waited and redis.call('LINDEX', queue, 0)
  if head then
    redis.pcall(publish, voiceOf(line, head), '0')
  elseif lined and not open and (freed == 1 or waited) and redis.call('EXISTS', lock) == 0 then
    serveLine(line, {})
  end
end)
if freed == 1 and lined and (not done or open or redis.call('EXISTS', lock) == 0) then
  redis.pcall(publish, channel, '0')
end
if freed ~= 1 and not done then
  return trouble
end
return freed == 1 and 1 or waited and 0 or freed == 0 and -1 or freed
