-- Writes where nobody else has it and it is not the readers' turn. Who waits while others read has the next turn.
-- Asked again by the owner that has it (a reply was lost), it is still one hold.
-- KEYS[1] lock
-- KEYS[2] turn
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3] mark
-- ARGV[4] patience (ms)
-- ARGV[5] grace (ms)
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry
local lock, turn = KEYS[1], KEYS[2]
local owner, lease, mark, patience, grace = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
--include until-turn
--include wrong-kind

local left = redis.call('PTTL', lock)
if left == -2 or redis.call('HEXISTS', lock, owner) == 0 then
  local mode = left ~= -2 and redis.call('HGET', lock, 'mode')
  if left ~= -2 and mode ~= 'read' and mode ~= 'write' then
    return wrongKind(lock)
  end
  local writes = mode == 'write'
  local whose = not writes and redis.call('GET', turn)
  if whose and string.sub(whose, 1, 4) == 'read' then
    return untilTurn(turn, left == -2, grace)
  end
  -- No reader comes in any more, for as long as it goes on asking.
  if left ~= -2 and not writes and mark ~= '' then
    redis.call('SET', turn, mark, 'PX', patience)
  end
  if left ~= -2 then
    return left
  end
end
redis.call('HSET', lock, 'mode', 'write', owner, 1)
if type(redis.pcall('PEXPIRE', lock, lease)) == 'table' then
  -- Redis does not roll a script back: what has no expiry goes, and the server says once more what it refused.
  redis.call('HDEL', lock, owner, left == -2 and 'mode' or owner)
  redis.call('PEXPIRE', lock, lease)
end
redis.call('DEL', turn)
return nil
