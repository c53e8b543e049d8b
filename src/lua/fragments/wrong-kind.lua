-- What is told to whoever finds another layout under the name: what that is, as far as a few fields show it. Looked at only
-- where nothing has been written yet.
local function wrongKind(key)
  local found, some = 'a hash of another program', redis.call('HSCAN', key, '0', 'COUNT', 4)[2]
  local known = redis.call('HMGET', key, 'mode', 'rate', 'interval', 'type')
  if known[1] == 'read' or known[1] == 'write' then
    found = 'a read-write lock'
  elseif known[2] and known[3] and known[4] then
    found = 'a rate limiter'
  elseif #some > 0 and (string.find(some[1], ':expire_time$') or string.find(some[1], ':lock_count$') or #some[1] == FIELD) then
    found = 'the keys of a keyed lock'
  elseif #some == 2 and string.find(some[2], '^[1-9]%d*$') then
    found = 'a lock of another kind'
  end
  return redis.error_reply('WRONGKIND ' .. found)
end
