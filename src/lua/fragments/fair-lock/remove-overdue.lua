-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or not heard, and has not asked for as long
-- as a trial takes all of its client with it, unless that asks now (`client`). Any other goes alone; one of Redisson's is told, since it
-- may sleep until it is. `line.rest`: a dead client has more than one script takes out.
local function removeOverdue(line, client)
  line.dead = {}
  local steps = LINE_REMOVED / 2
  -- Whether an owner goes alone. Where its client goes, that is noted together with the mark.
  local function look(owner)
    local deadline = deadlineOf(line, owner) or 0
    local whose = string.sub(owner, 1, 36)
    local late, marked = deadline <= line.now, isOurs(owner) and deadline % 1 ~= 0 and whose ~= client
    -- What seems older than 7 s and is not late may have been made before the server's clock was set back.
    local silent = markAge(line.now, deadline % 1)
    if marked and silent >= TRIAL and (late or silent > TRIAL and silent < 7000) then
      line.dead[whose] = deadline % 1
    end
    return late and not marked
  end
  while true do
    local head = redis.call('LINDEX', line.queue, 0)
    local mark = head and line.dead[string.sub(head, 1, 36)]
    if steps <= 0 and mark then
      -- The next of its places is marked like the first, and overdue: the next script goes on at once.
      redis.call('ZADD', line.deadlines, line.now - 1 + mark, head)
      line.rest = client
    end
    if not head or steps <= 0 then
      return
    end
    -- What another program wrote may be long: it costs as much as it is read.
    steps = steps - math.floor(#head / 1000)
    local alone = not mark and look(head)
    if line.dead[string.sub(head, 1, 36)] then
      steps = steps - removeClients(line, 2 * steps, look) / 2
    elseif alone then
      -- With those behind it that go alone as well.
      local some, size, gone = { head }, 1, 1
      if #head < LONGEST_NAME then some, size = placesAt(line.queue, 0, 64) end
      while some[gone + 1] and not line.dead[string.sub(some[gone + 1], 1, 36)] and look(some[gone + 1]) do gone = gone + 1 end
      steps = steps - (size > #some and size or gone)
      redis.call('LTRIM', line.queue, gone, -1)
      redis.call('ZREM', line.deadlines, unpack(some, 1, gone))
      for i = 1, gone do
        if not isOurs(some[i]) and #some[i] < LONGEST_NAME then redis.pcall(line.publish, line.channel .. ':' .. some[i], '0') end
      end
    else
      return
    end
  end
end
