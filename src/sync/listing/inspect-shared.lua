-- How many permits there are of what many may have at once, and the waiters in their order; if there are many, some at a time. Writes nothing.
-- KEYS object, rest, line, deadlines
-- ARGV kind, first (integer)
--   rest: when permits with an id lapse; of a limiter, how many are left. deadlines: of a limiter, the grants in its window
--   kind: semaphore, permitSemaphore, rateLimiter or countDownLatch
--   first: where to continue with the waiters
-- returns [integer available, integer permits, integer interval, string[pairs] waiting owners and deadlines in turn] -1: not known, or none
-- are set; without a deadline: empty

-- How many permits are left now in the window that all clients share; -1 if that takes a longer look, or the keys do not agree.
local function leftNow(value, permits, rate, interval)
  local horizon = serverNow() - interval
  if redis.call('ZCOUNT', permits, '(' .. horizon, '+inf') == 0 then
    return rate
  end
  local gone, long = membersAt(permits, 0, 100, horizon)
  local left = whole(textOf(value))
  if not left or long or #gone >= 200 then
    return -1
  end
  for i = 1, #gone, 2 do left = left + grantSize(gone[i]) end
  return left <= rate and math.max(0, left) or -1
end

local available, permits, interval, waiting = -1, -1, -1, {}
if kind == 'rateLimiter' then
  -- Beside the rate stands how far the grants are counted, while a count runs.
  local set = shortFields(object, 'rate', 'interval', 'type', deadlines)
  permits, interval = whole(set[1]) or -1, whole(set[2]) or -1
  if first == 0 and permits >= 0 and interval > 0 and set[3] == '0' and not set[4] then
    available = leftNow(rest, deadlines, permits, interval)
  end
  for i, text in ipairs((membersAt(line, first, WAITERS_PART))) do
    waiting[i] = i % 2 == 1 and #text < LONGEST_NAME and text or ''
  end
else
  local text = textOf(object)
  local count = text and whole(text)
  if text and not count then
    return redis.error_reply('WRONGKIND a text that is no count')
  end
  available = count and math.max(0, count) or -1
  if kind == 'permitSemaphore' and count then
    local now = serverNow()
    available = math.max(0, count + redis.call('ZCOUNT', rest, '-inf', now))
    permits = available + redis.call('ZCOUNT', rest, '(' .. now, '+inf')
  end
  if kind ~= 'countDownLatch' then
    waiting = waitersAt(line, deadlines, first, function() return false end)
  end
end
return { available, permits, interval, waiting }
