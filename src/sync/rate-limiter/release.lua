-- Releases permits. As many of the newest grants leave the window with them; otherwise, those permits would come back a second time. One
-- script removes only a limited number of grants, and the caller asks again for the rest. If asked again under the same note, does it only
-- once; what was refused stays refused.
-- KEYS limiter, value, ownValue, permits, ownPermits, note, channel, order, places
-- ARGV amount (count), publish, counted, grants
-- returns integer 1 done, -1 before a rate is set; below that, one more than the permits that are still to be released, negative

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  local told = textOf(note)
  return told == '0' and -1 or whole(told) or 1
end
local it, problem = limiterOf(limiter, value, ownValue, permits, ownPermits)
if problem then
  return problem
end
if not it then
  redis.call('SET', note, 0, 'PX', NOTE_TIME)
  return -1
end
moveWindow(it, serverNow(), 0)
-- While a count runs, there are no permits. What is released then has not been counted yet, or is taken out of the count.
local count, given = it.count, amount
-- The window cannot hold more than the rate; and a thousand places without a permit, which another program wrote, are enough.
amount = math.min(amount, it.rate)
local looked, vain = 0, 0
local later = count and count.grants > 0 and redis.call('ZCOUNT', it.permits, '(' .. count.latest, '+inf')
while amount > 0 and vain < 1000 and looked < 2000 do
  local youngest, gone, rest = redis.call('ZREVRANGE', it.permits, 0, math.min(amount, 4) - 1), 0, nil
  while gone < #youngest and amount > 0 do
    gone, looked = gone + 1, looked + 1
    local grant = youngest[gone]
    local some = grantSize(grant)
    if later and looked > later then
      count.grants, count.permits = count.grants - (some > amount and 0 or 1), count.permits - math.min(some, amount)
    end
    if some > amount then
      rest = { redis.call('ZSCORE', it.permits, grant), string.sub(grant, 1, -5) .. struct.pack('<I4', some - amount) }
    end
    amount, vain = math.max(0, amount - some), vain + (some == 0 and 1 + math.floor(#grant / 1000) or 0)
  end
  if gone == 0 then break end
  redis.call('ZREMRANGEBYRANK', it.permits, -gone, -1)
  if rest then redis.call('ZADD', it.permits, rest[1], rest[2]) end
end
local rest = looked >= 2000 and vain < 1000 and amount or 0
if not count then
  it.left = math.min(it.rate, it.left + given - rest)
end
local told = rest > 0 and -1 - rest or 1
redis.call('SET', note, told, 'PX', NOTE_TIME)
saveLimiter(it)
publishPermits(channel, publish, it.left)
pcall(function()
  wakeNext(lineOf(order, places, grants, publish, counted))
end)
return told
