-- Calls of one process ask for permits, in their order, while other processes wait, too. The first process in the line has its turn: one
-- call is served, and more if there are permits for all processes in the line. If a call has to wait, the process stands in the line, once;
-- after its turn, behind the others. The new first learns when its permits are due. A call is known by its bytes, the last four of which
-- say how many permits it wants. A note says that the calls were given up meanwhile.
-- KEYS limiter, value, ownValue, permits, ownPermits, note, order, places
-- ARGV owner, patient, hears (count text), counted, grants, publish, calls[7..] (bytes)
--   patient: a digit for each call: 1 if it waits in the line
--   hears: 1 the process hears messages that make it ask
-- returns [integer served, integer remaining, integer left, integer pause, integer stands] as of a take; ms until it asks again if no
-- message makes it ask before; 1 if it stands in the line

local it, problem = limiterOf(limiter, value, ownValue, permits, ownPermits)
if problem then
  return problem
end
local line, alone, stood = lineOf(order, places, grants, publish, counted), it and it.own, redis.call('ZSCORE', order, owner) and 1 or 0
if redis.call('EXISTS', note) == 1 then
  return { 0, 0, 1, 1, stood }
end
local head, wanted, all = not alone and headOf(line, owner), {}, 0
for i = 7, #calls do
  wanted[i - 6] = struct.unpack('<I4', calls[i], #calls[i] - 3)
  all = all + wanted[i - 6]
end
local mine = not head or head.owner == owner
local served, taken, remaining = 0, 0, 0
if it then
  if wanted[1] > it.rate then
    return { -2, it.rate, 0, 1, stood }
  end
  moveWindow(it, line.now, all)
  -- One call in its turn, and more only from its share: what is left, divided by all processes in the line.
  local share = it.left / (alone and 1 or redis.call('ZCARD', order) - stood + 1)
  for i, wants in ipairs(wanted) do
    if not redis.call('ZSCORE', it.permits, calls[i + 6]) then
      if not mine or wants > it.left or taken > 0 and taken + wants > share then
        break
      end
      redis.call('ZADD', it.permits, line.now, calls[i + 6])
      it.left, taken = it.left - wants, taken + wants
    end
    served = i
  end
  saveLimiter(it)
  local gone = it.behind and not it.count and redis.call('ZCOUNT', it.permits, '-inf', line.now - it.interval) or 0
  remaining = math.min(it.rate, math.max(0, it.left) + gone)
end
local function due(wants)
  return it and permitsFreeIn(it, wants, line.now) or POLL
end
local nextOne, first = wanted[served + 1] or 1, string.find(patient, '1', served + 1)
local rank, stands, pause, left = 0, 0, POLL, 1
-- What was acquired stays acquired, whatever goes wrong in the line.
local kept = alone or pcall(function()
  rank = first and joinLine(line, owner, taken > 0) or redis.call('ZCARD', order)
  local ahead = aheadOf(line, rank)
  left = due(ahead + nextOne)
  local dueToMe = first == served + 1 and left or first and due(ahead + wanted[first])
  if first then
    pause = math.min(dueToMe, POLL)
    redis.call('HSET', places, owner, string.format('%.0f %.0f', wanted[first], line.now + pause))
    redis.call('PEXPIRE', places, RATE_LINE_TIME)
    stands = 1
  elseif string.find(patient, '1') then
    redis.call('ZREM', order, owner)
    redis.call('HDEL', places, owner)
  end
  head = wakeNext(line, due, owner)
  if first and head and head.owner ~= owner then
    pause = pauseOf(rank, dueToMe, head.asks - line.now, hears == '1')
    redis.call('HSET', places, owner, string.format('%.0f %.0f', wanted[first], line.now + pause))
  end
end)
if alone or not kept then
  left, pause = due(nextOne), math.min(due(nextOne), POLL)
end
if it and it.behind and served < #wanted and mine then
  left, pause = 0, 1
end
return { it and served or -1, remaining, left, pause, stands }
