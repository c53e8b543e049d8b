-- Takes the lock when it is free, nobody waits for it in the line and it is not left to others. Asked again by the owner that has
-- it (a reply was lost), it is still one hold.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] turn
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry, -2 when it may be another's turn
local lock, queue, turn = KEYS[1], KEYS[2], KEYS[3]
local owner, lease = ARGV[1], ARGV[2]
--include take-hold

if redis.call('EXISTS', lock, queue, turn) > 0 then
--include holder-of
--include wrong-kind
--include is-open
  local left = redis.call('PTTL', lock)
  local holder = left ~= -2 and holderOf(lock)
  if holder == nil then
    return wrongKind(lock)
  end
  if holder and holder ~= owner then
    return left
  end
  local time = redis.call('TIME')
  local line = { turn = turn, now = time[1] * 1000 + math.floor(time[2] / 1000) }
  if not holder and (redis.call('EXISTS', queue) == 1 or isOpen(line) > 0) then
    return left
  end
  -- Others had their turn.
  if redis.pcall('HDEL', turn, 'till') == 1 then
    redis.pcall('HSET', turn, 'since', line.now, 'visits', 0)
  end
end
takeHold(lock, owner, lease)
return nil
