-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or was found deaf, and has not
-- stirred for 3 s takes all of its client with it; any other goes alone. Never the whole of the client that asks. One of
-- Redisson's is told, and asks again where it lives: it may be asleep until it is told. Where a dead client has more than one
-- script takes out, the mark goes over to the next of its places, so that the next script goes on at once (`line.rest`).
local function removeOverdue(line, client)
  line.dead = {}
  local steps = 1000
  -- Whether an owner goes alone. Where its client goes, that is noted together with the mark.
  local function look(owner)
    local deadline = tonumber(redis.call('ZSCORE', line.deadlines, owner) or 0)
    local whose = string.sub(owner, 1, 36)
    local late, marked = deadline <= line.now, isOurs(owner) and deadline % 1 ~= 0 and whose ~= client
    -- The mark says how long ago it was made, modulo 16 s, for turns of Redisson's waiters move the deadline itself. What seems
    -- older than 7 s and is not late may have been made before the server's clock was set back.
    local silent = (math.floor(line.now / TICK) + 1 - deadline % 1 * TICK_UNITS) % TICKS * TICK
    if marked and silent >= TRIAL and (late or silent > TRIAL and silent < 7000) then
      line.dead[whose] = deadline % 1
    end
    return late and not marked
  end
  while true do
    local head = redis.call('LINDEX', line.queue, 0)
    local mark = head and line.dead[string.sub(head, 1, 36)]
    if steps <= 0 and mark then
      redis.call('ZADD', line.deadlines, line.now - 1 + mark, head)
      line.rest = client
    end
    if not head or steps <= 0 then
      return
    end
    local alone = not mark and look(head)
    if line.dead[string.sub(head, 1, 36)] then
      steps = steps - removeClients(line, 2 * steps, look) / 2
    elseif alone then
      steps = steps - 1
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
