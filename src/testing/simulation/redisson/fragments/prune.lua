-- Removes owners from the head whose deadline is over, by the caller's clock. An owner without a deadline stays.
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
