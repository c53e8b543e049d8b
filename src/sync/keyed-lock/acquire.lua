-- Takes all of these keys of a group when none is another's. Asked again by the owner that has them (a reply was lost), it is
-- still one hold.
-- KEYS[1] group
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3..] fields
-- returns nil held | integer ms that one of them stays another's
local group = KEYS[1]
local owner = ARGV[1]
local lease = tonumber(ARGV[2])
local fields = ARGV
--include server-now
--include whole
--include key-left
--include give-key
--include drop-key
--include wrong-kind

-- Whether what stands there may be the keys of a group, as far as a few fields show. A large one has an expiry at least.
local function groupLike(ttl)
  local few = ttl < 0 or redis.call('HLEN', group) < 64
  local some = few and redis.call('HSCAN', group, '0', 'COUNT', 4)[2] or {}
  for i = 1, #some, 2 do
    if #some[i] ~= 22 and not string.find(some[i], ':expire_time$') and not string.find(some[i], ':lock_count$') then
      return false
    end
  end
  return true
end

local now = serverNow()
local left, others = 0, {}
for i = 3, #fields do
  local holder = redis.call('HGET', group, fields[i])
  if holder and holder ~= owner then
    others[i] = holder
    left = math.max(left, keyLeft(group, fields[i], holder, now))
  end
end
if left > 0 then
  return left
end
local ttl = redis.call('PTTL', group)
if ttl ~= -2 and not next(others) and not groupLike(ttl) then
  return wrongKind(group)
end
for i = 3, #fields do
  giveKey(group, fields[i], owner, now + lease, 1)
  -- After that: a group that is empty in between loses its expiry.
  if others[i] then
    dropKey(group, fields[i], others[i])
  end
end
-- The others of the group may have theirs for longer.
if (ttl == -2 or (ttl >= 0 and ttl < lease)) and type(redis.pcall('PEXPIRE', group, lease)) == 'table' then
  -- Redis does not roll a script back: what has no expiry goes, and the server says once more what it refused.
  for i = 3, #fields do dropKey(group, fields[i], owner) end
  redis.call('PEXPIRE', group, lease)
end
return nil
