-- How those of one client who wait stand. Who has been granted the lock meanwhile has it for good; the others are marked as
-- alive, and where the lock is free the first of the line is granted it. Never creates a waiter.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] allowance (ms)
-- ARGV[2] channel
-- ARGV[3] grants
-- ARGV[4] publish
-- ARGV[5..] owners and their leases in turn
-- returns [string stamp, integer left, integer[] states] server time in µs; ms that the lock stays another's, -1 without
-- expiry, -2 when it is free; of each owner: 1 held, 0 waits behind one that can grant directly, 2 behind another, 3 is not there
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local allowance, channel, grants, publish = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local owners = ARGV
--include is-ours
--include take-out
--include let-have
--include keep-line
--include drop-client
--include drop-stale
--include keep-order
--include bound
--include tell-whose
--include grant-next

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = tonumber(owners[6]), allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local left = redis.call('PTTL', lock)
local holder = redis.call('HKEYS', lock)[1]
local mine, states, ahead = {}, {}, holder
for i = 5, #owners, 2 do
  mine[owners[i]] = tonumber(owners[i + 1])
end
local waiting = redis.call('LRANGE', queue, 0, -1)
for place, owner in ipairs(waiting) do
  if mine[owner] then
    local deadline = line.now + math.max(left, 0) + allowance * place
    -- Also where it is later already: on trial or deaf it is no more.
    local known = tonumber(redis.call('ZSCORE', deadlines, owner) or 0)
    deadline = math.max(math.ceil(known), deadline)
    redis.call('ZADD', deadlines, deadline, owner)
    local behind = waiting[place + 1] or owner
    if not mine[behind] then
      -- One of Redisson's keeps its distance, since its turn takes that off the others. Where a mark is ahead it is not known.
      local whole = known > 0 and known % 1 == 0 and not isOurs(behind)
      local own = whole and tonumber(redis.call('ZSCORE', deadlines, behind) or known) - known or 0
      keepOrder(line, waiting, place + 1, deadline + math.max(own, 0))
    end
    states[owner] = isOurs(ahead or owner) and 0 or 2
  end
  ahead = owner
end
keepLine(line)
dropStale(line, string.sub(owners[5], 1, 36))
if not holder then
  holder = grantNext(line, mine)
elseif mine[holder] then
  letHave(line, holder, mine[holder])
end
local told = {}
for i = 5, #owners, 2 do
  told[#told + 1] = owners[i] == holder and 1 or states[owners[i]] or 3
end
return { line.stamp, redis.call('PTTL', lock), told }
