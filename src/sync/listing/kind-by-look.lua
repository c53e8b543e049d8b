-- What some hashes look like: which kind of lock, or empty where they are another program's. No value is read that may be long.
-- KEYS locks[1..]
--   locks: of each hash, its key, the queue that it has if it is a fair lock, and the counter that it has if it is a fenced one
-- returns string[] kinds

local kinds = {}
for i = 1, #locks, 3 do
  local key, kind = locks[i], ''
  -- It may be of another type by now, or gone.
  local fields = redis.pcall('HLEN', key)
  local mode = fields ~= 1 and type(fields) == 'number' and redis.call('HSTRLEN', key, 'mode') < 6 and redis.call('HGET', key, 'mode')
  local owner = fields == 1 and redis.call('HKEYS', key)[1]
  if mode == 'read' or mode == 'write' then
    kind = 'readWriteLock'
  elseif owner and #owner < LONGEST_NAME and string.find(owner, '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$') and redis.call('HSTRLEN', key, owner) < 20 then
    kind = redis.call('EXISTS', locks[i + 2]) == 1 and 'fencedLock' or redis.call('EXISTS', locks[i + 1]) == 1 and 'fairLock' or 'lock'
  end
  kinds[#kinds + 1] = kind
end
return kinds
