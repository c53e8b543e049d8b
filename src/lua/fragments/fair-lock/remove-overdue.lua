-- Removes overdue places from the head of the line. If one of our places was granted the lock, or skipped, and its client has not
-- asked for the time of a trial, all places of the client are removed, unless it asks now (`client`). Any other place is removed
-- alone. A Redisson client gets a message then, because it may sleep until one comes. `line.rest` is set if a dead client has more
-- places than one script removes.
local function removeOverdue(line, client)
  line.dead = {}
  local steps = LINE_REMOVED / 2
  -- Whether a place is removed alone. If its whole client must go, notes that, with the mark, in `line.dead`.
  local function look(owner)
    local deadline = storedDeadline(line, owner) or 0
    local whose = string.sub(owner, 1, 36)
    local late, marked = deadline <= line.now, isOurs(owner) and deadline % 1 ~= 0 and whose ~= client
    -- A mark that seems older than 7 s, at a place that is not overdue, may have been made before the server's clock was set back.
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
      -- Gives the client's next place the same mark, and makes it overdue, so that the next script continues at once.
      redis.call('ZADD', line.deadlines, line.now - 1 + mark, head)
      line.rest = client
    end
    if not head or steps <= 0 then
      return
    end
    -- Another program may have written long entries: each costs as much as it takes to read.
    steps = steps - math.floor(#head / 1000)
    local alone = not mark and look(head)
    if line.dead[string.sub(head, 1, 36)] then
      steps = steps - removeDeadPlaces(line, 2 * steps, look) / 2
    elseif alone then
      -- Together with those behind it that are removed alone, too.
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
