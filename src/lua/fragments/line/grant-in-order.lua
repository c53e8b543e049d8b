-- The walk along a line, from its head: grants what can be granted, and removes overdue places. `mine`: the owners that ask,
-- with their leases; such an owner holds at once, another on trial. The kinds' own steps are in `lock/`, `read-write-lock/`,
-- `keyed-lock/`, `semaphore/` and `permit-semaphore/`. Returns the mode that a newcomer finds: 'write', nobody may enter;
-- 'read', readers may; false, all may.
local function grantInOrder(line, mine)
  local mode = modeOf(line)
  -- Channels on which nobody listened a moment ago; clients that let a trial lapse.
  line.deaf, line.dead = {}, {}
  -- The places that were read, the current one among them, and how far into the line they reach; how many places may still be read; whether
  -- the walk has changed anything.
  local some, place, till, steps, moved = {}, 0, 0, line.amounts and 768 or 512, false
  -- It reads on only as far as the walk comes.
  line.placeAt = function(i)
    while not some[i] and steps > 0 do
      local few, size = placesAt(line.queue, till, till > 0 and 4 or 2)
      -- An entry that is not a wire name is removed, so that it is read only once, and not for each client that asks.
      for _, owner in ipairs(few) do
        if #owner < LONGEST_NAME then some[#some + 1], till = owner, till + 1 else redis.call('LREM', line.queue, 1, owner) end
      end
      steps = steps - math.max(#few, size)
      if #few == 0 then break end
    end
    return some[i]
  end
  while true do
    place = place + 1
    local owner = line.placeAt(place)
    -- That is enough for one step: the other places enter when those behind them ask again.
    if not owner then mode = steps <= 0 and 'write' or mode break end
    local client = string.sub(owner, 1, 36)
    -- The deadlines of a dead client are not looked up. A name too long for a wire name, or without a deadline, is overdue.
    local deadline = not line.dead[client] and tonumber(#owner < LONGEST_NAME and redis.call('ZSCORE', line.deadlines, owner) or 0)
    if isDead(line, client, deadline) then
      -- After the walk, all places of that client are removed.
      line.dead[client] = true
    elseif deadline <= line.now then
      redis.call('LREM', line.queue, 1, owner)
      redis.call('ZREM', line.deadlines, owner)
      if line.sets or line.amounts then redis.call('HDEL', line.sets or line.amounts, owner) end
      -- The server searches for it from the head on.
      till, steps, moved = till - 1, steps - (till - #some + place) / 64 - (line.amounts and 2 or 0), true
    elseif not (mode and isHolder(line, owner)) then
      -- An owner on trial holds already, and is skipped.
      local wants = entersOrBlocks(owner, line)
      if wants == 'wait' or mode == 'write' or mode and wants == 'write' then
        if mode == 'read' then markIfDead(line, owner, deadline) end
        -- Those behind it wait as well, unless each place wants keys of its own.
        if wants ~= 'wait' then mode = 'write' break end
      else
        if mine[owner] then
          grant(line, owner, mine[owner])
          removeWaiter(line, owner, true)
          till = till - 1
        end
        -- If its client does not listen, the next place is tried.
        if mine[owner] or grantOrMarkUnheard(line, owner, wants, deadline, place) then
          -- A grant costs several times as much as skipping a place.
          mode, steps, moved = wants, steps - 5, true
        elseif line.amounts then
          steps = steps - 1
        end
      end
    end
  end
  -- The next place's client continues, unless this walk has changed nothing: otherwise it would be woken up without end.
  local behind = moved and steps <= 0 and redis.call('LINDEX', line.queue, till)
  if next(line.dead) then sweepDeadClients(line, steps <= 0) end
  if behind and #behind < LONGEST_NAME then redis.pcall(line.publish, grantChannel(line, behind), '0') end
  return mode
end
