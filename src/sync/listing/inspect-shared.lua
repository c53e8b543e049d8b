-- How many permits there are of what many may have at once, and the waiters in their order; if there are many, some at a time. Writes nothing.
-- KEYS object, timeouts, line, deadlines
-- ARGV kind, first (integer)
--   kind: semaphore, permitSemaphore, rateLimiter or countDownLatch
--   first: where to continue with the waiters
-- returns [integer available, integer permits, string[pairs] waiting owners and deadlines in turn] -1: not known, or none are set; without a
-- deadline: empty

local available, permits, waiting = -1, -1, {}
if kind == 'rateLimiter' then
  -- What is longer than any number was written by another program.
  local rate = redis.call('HSTRLEN', object, 'rate') < 20 and redis.call('HGET', object, 'rate')
  permits = rate and whole(rate) or -1
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
    available = math.max(0, count + redis.call('ZCOUNT', timeouts, '-inf', now))
    permits = available + redis.call('ZCOUNT', timeouts, '(' .. now, '+inf')
  end
  if kind ~= 'countDownLatch' then
    waiting = waitersAt(line, deadlines, first, function() return false end)
  end
end
return { available, permits, waiting }
