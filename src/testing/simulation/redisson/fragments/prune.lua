-- Takes out whoever stands at the head longer than its deadline, by the caller's clock. Who has no deadline stays.
local function prune(queue, deadlines, now)
  while true do
    local head = redis.call('LINDEX', queue, 0)
    local deadline = head and redis.call('ZSCORE', deadlines, head)
    if not deadline or tonumber(deadline) > now then
      return
    end
    redis.call('ZREM', deadlines, head)
    redis.call('LPOP', queue)
  end
end
