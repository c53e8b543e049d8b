-- Takes permits for the calls of one process, in their order: for as many of them as there are permits for. Each permit has
-- an id, by which a call that is asked for again finds that it has been served; a note says that it was given up meanwhile.
-- KEYS[1] permits
-- KEYS[2] timeouts
-- KEYS[3] channel
-- KEYS[4] note
-- ARGV[1] publish
-- ARGV[2..] calls (any)
-- returns [integer calls, integer left, integer all] how many of the calls have theirs, -1 when no permits are set; where not
-- all, ms until a permit is given back by its expiry, -1 when none will be, and how many permits there are, those taken included. Each of the calls: a lease in ms, 0 for ever; how many; so many ids
local permits, timeouts, channel, note = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish = ARGV[1]
local calls = ARGV
--include member-of
--include or-undo
--include reap
--include server-now
--include whole

if redis.call('EXISTS', note) == 1 then
  return { 0, -1, 0 }
end
local now = serverNow()
local over = reap(permits, timeouts, channel, publish, now, #calls)
local stored = redis.call('GET', permits)
if not stored then
  return { -1, -1, 0 }
end
local available = whole(stored)
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
available = available + over
local served, place, taken = 0, 2, {}
local function giveBack()
  for _, member in ipairs(taken) do redis.call('ZREM', timeouts, member) end
  redis.call('INCRBY', permits, #taken)
end
while calls[place] do
  local lease, count = tonumber(calls[place]), tonumber(calls[place + 1])
  if not redis.call('ZSCORE', timeouts, memberOf(calls[place + 2])) then
    if count > available then
      break
    end
    available = redis.call('DECRBY', permits, count) + over
    local ends = lease > 0 and now + lease or '922337203685477'
    for i = place + 2, place + 1 + count do
      taken[#taken + 1] = memberOf(calls[i])
    end
    for i = #taken - count + 1, #taken do
      orUndo(giveBack, redis.call, 'ZADD', timeouts, ends, taken[i])
    end
  end
  served = served + 1
  place = place + 2 + count
end
if served > 0 then
  local left = redis.call('PTTL', permits)
  if left > 0 then
    orUndo(giveBack, redis.call, 'PEXPIRE', timeouts, left)
  end
end
if not calls[place] then
  return { served, -1, 0 }
end
local first = redis.call('ZRANGE', timeouts, 0, 0, 'WITHSCORES')[2]
local left = first and first ~= '922337203685477' and math.min(math.max(1, tonumber(first) - now), 2147483647) or -1
return { served, left, available + redis.call('ZCARD', timeouts) - over }
