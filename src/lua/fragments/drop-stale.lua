-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or was found deaf, and has not
-- stirred since takes all of its client with it; any other goes alone. Never the whole of the client that asks.
local function dropStale(line, client)
  while true do
    local head = redis.call('LINDEX', line.queue, 0)
    if not head then
      return
    end
    local deadline = tonumber(redis.call('ZSCORE', line.deadlines, head) or 0)
    if deadline > line.now then
      return
    end
    local gone = string.sub(head, 1, 36)
    if isOurs(head) and deadline % 1 ~= 0 and gone ~= client then
      dropClient(line, gone)
    else
      redis.call('LPOP', line.queue)
      redis.call('ZREM', line.deadlines, head)
    end
  end
end
