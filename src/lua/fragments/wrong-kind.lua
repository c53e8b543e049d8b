-- The error for a client that finds another layout under the name: what that is, as far as a few fields show; just one, if fields may be
-- long. Only looked at if nothing has been written yet.
local function wrongKind(key)
  local found, some = 'a hash of another program', redis.call('HSCAN', key, '0', 'COUNT', 1)[2]
  -- Nothing long is read, or searched.
  local mode = redis.call('HSTRLEN', key, 'mode') < 6 and redis.call('HGET', key, 'mode')
  if mode == 'read' or mode == 'write' then
    found = 'a read-write lock'
  elseif redis.call('HEXISTS', key, 'rate') + redis.call('HEXISTS', key, 'interval') + redis.call('HEXISTS', key, 'type') == 3 then
    found = 'a rate limiter'
  elseif #some > 0 and (string.sub(some[1], -12) == ':expire_time' or string.sub(some[1], -11) == ':lock_count' or #some[1] == FIELD) then
    found = 'the keys of a keyed lock'
  elseif #some == 2 and redis.call('HLEN', key) == 1 and #some[2] < 20 and string.find(some[2], '^[1-9]%d*$') then
    found = 'a lock of another kind'
  end
  return redis.error_reply('WRONGKIND ' .. found)
end
