-- Takes out what is overdue at the head of the line. One of ours that was granted the lock, or was found deaf, and has not
-- stirred since takes all of its client with it; any other goes alone. Never the whole of the client that asks. One of
-- Redisson's is told, and asks again where it lives: it may be asleep until it is told.
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
      if not isOurs(head) then
        redis.pcall(line.publish, line.channel .. ':' .. head, '0')
      end
    end
  end
end
