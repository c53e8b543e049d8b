-- Whoever is first in the line and may enter does: a writer alone, readers with all readers right behind. `mine`: the owners
-- who ask, with their leases; such a one is in at once. Another is in on trial and told so: until it confirms, for a short
-- lease at most, it stands in the line still, and a fraction marks its deadline. Whose client nobody hears is passed over and
-- has as long to be heard again. Who lets that time pass takes all of its client out of the line with it, save the client
-- that asks. Where each place wants keys of its own ('wait'), those behind one that has to wait are looked at, too. Returns the
-- mode that who comes now finds: 'write', nobody may enter; 'read', readers may; false, all may.
local function serveLine(line, mine)
  local mode = modeOf(line)
  line.deaf, line.dead = {}, {}
  -- A part of the line at a time, and where in the line it ends.
  local some, place, till, steps = {}, 0, 0, 1024
  while true do
    if place == #some then
      -- So many in one step are enough: the others come in when those behind them ask again.
      if steps <= 0 then
        mode = 'write'
        break
      end
      some, place, steps = redis.call('LRANGE', line.queue, till, till + 63), 0, steps - 64
      till = till + #some
      if #some == 0 then
        break
      end
    end
    place = place + 1
    local owner = some[place]
    local client = string.sub(owner, 1, 36)
    local deadline = not line.dead[client] and tonumber(#owner < 100 and redis.call('ZSCORE', line.deadlines, owner) or 0)
    if not deadline or deadline <= line.now and deadline % 1 ~= 0 and client ~= line.client then
      -- It goes with all of its client, in the end.
      line.dead[client] = true
    elseif deadline <= line.now then
      redis.call('LREM', line.queue, 1, owner)
      redis.call('ZREM', line.deadlines, owner)
      if line.sets or line.amounts then redis.call('HDEL', line.sets or line.amounts, owner) end
      till = till - 1
    elseif not (mode and isHolder(line, owner)) then
      local wants = entersAs(owner, line)
      if wants == 'wait' or mode == 'write' or mode and wants == 'write' then
        -- Readers may go on for long: who has not been heard for as long as a trial is on trial now.
        local heard = line.allowance and deadline - line.now - line.allowance
        if mode == 'read' and heard and (heard < -TRIAL or heard >= 1) then
          redis.call('ZADD', line.deadlines, math.min(deadline, line.now + TRIAL_MARKED), owner)
        end
        if wants ~= 'wait' then
          mode = 'write'
          break
        end
      else
        if mine[owner] then
          grant(line, owner, mine[owner])
          removeWaiter(line, owner)
          till = till - 1
        end
        if mine[owner] or grantTrial(line, owner, wants, deadline, some, place) then
          mode = wants
        else
          steps = steps - 1
        end
      end
    end
  end
  if next(line.dead) then
    removeClients(line, 2000)
    if steps <= 0 then
      -- What is left of a dead client's goes next, or whoever it hid is next: the client that asks is to ask again at once.
      local head = redis.call('LINDEX', line.queue, 0)
      if head and line.dead[string.sub(head, 1, 36)] then
        redis.call('ZADD', line.deadlines, line.now - 0.5, head)
      end
      redis.pcall(line.publish, line.askerChannel or line.grants .. ':' .. line.client, '0')
      redis.pcall(line.publish, line.grants .. ':' .. line.client .. ':write', '0')
    end
  end
  return mode
end
