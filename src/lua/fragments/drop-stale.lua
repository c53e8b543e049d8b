-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or was found deaf, and has not
-- stirred for 3 s takes all of its client with it; any other goes alone. Never the whole of the client that asks. One of
-- Redisson's is told, and asks again where it lives: it may be asleep until it is told.
local function dropStale(line, client)
  local steps = 1000
  while steps > 0 do
    steps = steps - 1
    local head = redis.call('LINDEX', line.queue, 0)
    if not head then
      return
    end
    local deadline = tonumber(redis.call('ZSCORE', line.deadlines, head) or 0)
    local late, marked = deadline <= line.now, isOurs(head) and deadline % 1 ~= 0 and string.sub(head, 1, 36) ~= client
    -- The mark says how long ago it was made, modulo 16 s, for turns of Redisson's waiters move the deadline itself. What seems
    -- older than 7 s and is not late may have been made before the server's clock was set back.
    local silent = (math.floor(line.now / 4) + 1 - deadline % 1 * 4096) % 4095 * 4
    if marked and silent >= 3000 and (late or silent > 3000 and silent < 7000) then
      steps = steps - dropClient(line, string.sub(head, 1, 36)) / 8
    elseif late and not marked then
      redis.call('LPOP', line.queue)
      redis.call('ZREM', line.deadlines, head)
      if not isOurs(head) then
        redis.pcall(line.publish, line.channel .. ':' .. head, '0')
      end
    else
      return
    end
  end
end
