-- The first step of each of Redisson's scripts: whoever has been silent for too long leaves the head of the queue. An entry
-- without a deadline goes as well: the scripts before version 4 fail on it, for everybody, until somebody takes it out.
local function removeOverdue(queue, deadlines, now)
  for _ = 1, 1000 do
    local head = redis.call('LINDEX', queue, 0)
    if not head or tonumber(redis.call('ZSCORE', deadlines, head) or 0) > now then
      return
    end
    redis.call('ZREM', deadlines, head)
    redis.call('LPOP', queue)
  end
end
