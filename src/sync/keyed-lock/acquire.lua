-- Acquires all of these keys of a group if no other owner has one, nobody in the line wants one, and the group is not left to outsiders. If
-- their holder asks again (a reply was lost), it is still one hold. If only the group is given, ignores the line.
-- KEYS group, keys[2..]
-- ARGV owner, lease (ms), fields[3..]
--   keys: the line's queue, turn, and what each place wants
-- returns 'held' | integer ms that another owner keeps one of them, -2 if it may be another's turn

local now, ttl, over = serverNow(), -2, {}
if redis.call('EXISTS', unpack(keys)) > 0 then
  --functions

-- Whether a place in the line wants one of these keys, as far as the first 64 show; true if they cannot all be
-- looked at, or if there are more.
local function isWanted(line, fields, first)
  local some, mine, work = placesAt(line.queue, 0, 65), {}, 1000
  for i = first, #fields do mine[fields[i]] = true end
  for _, owner in ipairs(some) do
    local length = redis.call('HSTRLEN', line.sets, owner)
    work = work - math.max(length / FIELD_AND_BLANK, 8)
    if work < 0 then
      return true
    end
    for field in string.gmatch(redis.call('HGET', line.sets, owner) or '', '%S+') do
      if mine[field] then
        return true
      end
    end
  end
  return #some == 65
end

  local left = 0
  for i = 3, #fields do
    local holder = redis.call('HGET', group, fields[i])
    if holder and holder ~= owner then
      over[i] = holder
      left = math.max(left, keyLeft(group, fields[i], holder, now))
    end
  end
  if left > 0 then
    return left
  end
  ttl = redis.call('PTTL', group)
  if ttl ~= -2 and not next(over) and not groupLike(group, ttl) then
    return wrongKind(group)
  end
  if keys[2] and redis.call('EXISTS', keys[2], keys[3]) > 0 then
    local line = { queue = keys[2], turn = keys[3], sets = keys[4], now = now }
    if turnLeft(line) > 0 or isWanted(line, fields, 3) then
      return -2
    end
    endTurn(line)
  end
end
--functions
for i = 3, #fields do
  giveKey(group, fields[i], owner, now + lease, 1)
  -- Only now, because a group that is empty in between loses its expiry.
  if over[i] then
    removeKey(group, fields[i], over[i])
  end
end
-- Other owners of the group may hold theirs for longer.
if (ttl == -2 or (ttl >= 0 and ttl < lease)) and type(redis.pcall('PEXPIRE', group, lease)) == 'table' then
  -- Redis does not roll back a script: keys without an expiry are removed, and the server repeats its error.
  for i = 3, #fields do removeKey(group, fields[i], owner) end
  redis.call('PEXPIRE', group, lease)
end
return 'held'
