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
--include line/remove-waiter
--include take-hold
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include lock/mode-of
--include lock/is-holder
--include lock/grant
--include lock/enters-or-blocks
--include line/grant-channel
--include line/is-heard
--include line/publish-grant
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line
--include outsiders/turn-left
--include whole
--include outsiders/begin-turn
--include outsiders/end-turn
--include line/hand-over

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), visits = visits, own = own, counted = counted == '1', lined = lined,
}
local waited, open = false, false
-- Where something else stands at the line, what was freed is free all the same.
local done, trouble = pcall(function()
  waited = lined and removeWaiter(line, owner)
  open = handOver(line, freed == 1, waited)
end)
if freed == 1 and lined and (not done or open or redis.call('EXISTS', lock) == 0) then
  redis.pcall(publish, channel, '0')
end
if freed ~= 1 and not done then
  return trouble
end
return freed == 1 and 1 or waited and 0 or freed == 0 and -1 or freed
