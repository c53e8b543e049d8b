-- Reads for all these owners at once, where nobody writes and it is not a writer's turn; under a write of their own always.
-- Asked again (a reply was lost), each is still one hold.
-- KEYS[1] lock
-- KEYS[2] turn
-- KEYS[3..] levels
-- ARGV[1] writer
-- ARGV[2] mark
-- ARGV[3] patience (ms)
-- ARGV[4] grace (ms)
-- ARGV[5..] owners and their leases in turn
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry
local lock, turn, levels = KEYS[1], KEYS[2], KEYS
local writer, mark, patience, grace = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local owners = ARGV
--include until-turn
--include wrong-kind

local left = redis.call('PTTL', lock)
local mode = left ~= -2 and redis.call('HGET', lock, 'mode')
if left ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local whose = (left == -2 or mode == 'read') and redis.call('GET', turn)
local free = left == -2 or mode == 'read'
local theirs = whose and string.sub(whose, 1, 5) == 'write'
if not free or theirs then
  local own = writer ~= '' and redis.call('HEXISTS', lock, writer) == 1
  if not own and redis.call('HEXISTS', lock, owners[5]) == 0 then
    -- Readers come next: for as long as they go on asking.
    if mark ~= '' and mode == 'write' then
      redis.call('SET', turn, mark, 'PX', patience)
    end
    return free and untilTurn(turn, left == -2, grace) or left
  end
elseif whose then
  -- The others were woken by the same message: three times what the first of them took is enough.
  local rest = redis.call('PTTL', turn)
  local enough = 3 * (math.max(grace - rest, 0) + 1)
  if enough < rest then
    redis.call('PEXPIRE', turn, enough)
  end
end
local longest, fields = left, {}
for i = 5, #owners, 2 do
  fields[#fields + 1] = owners[i]
  fields[#fields + 1] = 1
  redis.call('SET', levels[(i + 1) / 2] .. ':1', 1, 'PX', owners[i + 1])
  longest = math.max(longest, tonumber(owners[i + 1]))
end
redis.call('HSET', lock, 'mode', mode or 'read', unpack(fields))
if longest > left and type(redis.pcall('PEXPIRE', lock, longest)) == 'table' then
  -- Redis does not roll a script back: what has no expiry goes, and the server says once more what it refused.
  for i = 1, #fields, 2 do redis.call('HDEL', lock, fields[i], left == -2 and 'mode' or fields[i]) end
  redis.call('PEXPIRE', lock, longest)
end
return nil
