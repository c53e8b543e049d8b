-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or was found deaf, and has not
-- stirred since takes all of its client with it; any other goes alone. Never the whole of the client that asks. One of
-- Redisson's is told, and asks again where it lives: it may be asleep until it is told.
local function dropStale(line, client)
  local head = redis.call('LINDEX', line.queue, 0)
  while head do
    local deadline, gone = tonumber(redis.call('ZSCORE', line.deadlines, head) or 0), string.sub(head, 1, 36)
    -- The mark says how long ago it was made, modulo 16 s: turns of Redisson's waiters put off the deadline itself. What seems
    -- very old was made by a clock that has been set back since.
    local silent = (math.floor(line.now / 4) + 1 - deadline % 1 * 4096) % 4095 * 4
    local marked = isOurs(head) and deadline % 1 ~= 0 and gone ~= client
    if marked and (deadline <= line.now or silent > 3000 and silent < 12000) then
      dropClient(line, gone)
    elseif deadline <= line.now then
      redis.call('LPOP', line.queue)
      redis.call('ZREM', line.deadlines, head)
      if not isOurs(head) then
        redis.pcall(line.publish, line.channel .. ':' .. head, '0')
      end
    else
      return
    end
    head = redis.call('LINDEX', line.queue, 0)
  end
end
