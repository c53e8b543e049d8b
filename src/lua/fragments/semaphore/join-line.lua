-- Puts an owner in the line for that many permits, unless it `joins` for none; then serves the line, unless the permits are left to
-- outsiders. An owner that was granted permits and wants another number comes in front (`push`). If the server refuses a step, `undo`
-- undoes what was done. Returns the mark of the owner's deadline, and for how many ms permits are left to outsiders.
local function joinLine(line, owner, joins, push, own, news, undo)
  local mark, open = own == 1 and LISTENS or 0, 0
  local done, refusal = pcall(function()
    -- If the list was evicted, all that wait join again.
    local some, long, anew, places = {}, false, {}, {}
    if redis.call('EXISTS', line.queue) == 0 then some, long = membersAt(line.deadlines, 0, 1000) end
    if long then redis.call('ZREMRANGEBYRANK', line.deadlines, 0, #some / 2 - 1) end
    for i = 1, long and 0 or #some, 2 do places[#places + 1] = some[i] end
    local amounts = #places > 0 and redis.call('HMGET', line.amounts, unpack(places))
    for i, other in ipairs(places) do
      if grantsIn(amounts[i], some[2 * i]) == 0 then anew[#anew + 1] = other end
    end
    if #anew > 0 then
      redis.call('ZREM', line.deadlines, unpack(anew))
      redis.call('HDEL', line.amounts, unpack(anew))
    end
    if joins > 0 then
      local due = tonumber(redis.call('ZSCORE', line.deadlines, owner))
      -- It was skipped because the server does not count its client, and asks all the same.
      if own == 3 or own < 2 and due and (due % 1 == GRANTED or due % 1 == UNCOUNTED) then mark = UNCOUNTED end
      redis.call('ZADD', line.deadlines, line.now + line.allowance + mark, owner)
      redis.call('HSET', line.amounts, owner, -joins)
      if not due then redis.call(push, line.queue, owner) end
      for _, key in ipairs({ line.queue, line.deadlines, line.amounts }) do redis.call('PEXPIRE', key, AMOUNTS_TIME) end
    end
    open = turnLeft(line)
    if open == 0 or news == 1 then
      grantPermits(line, { [owner] = 1 })
      open = 0
    end
  end)
  if not done then
    undo()
    -- From Redis 7 on, an error is a table, of which pcall returns the text.
    error(string.sub(refusal, 1, 1) == '@' and refusal or { err = refusal }, 0)
  end
  return mark, open
end
