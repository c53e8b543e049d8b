-- Takes the clients that the walk found dead out of the line. `ended`: the walk stopped before the end of the line, so that the client
-- that asks is told to ask again at once, and goes on from there.
local function sweepLapsedClients(line, ended)
  removeClients(line, LINE_REMOVED)
  -- What is left of a dead client's goes next, or whoever it hid is next: a mark that is overdue says so to the next script.
  local head = redis.call('LINDEX', line.queue, 0)
  if head and line.dead[string.sub(head, 1, 36)] then
    redis.call('ZADD', line.deadlines, line.now - 0.5, head)
  end
  if ended then
    redis.pcall(line.publish, line.askerChannel or line.grants .. ':' .. line.client, '0')
    redis.pcall(line.publish, line.grants .. ':' .. line.client .. ':write', '0')
  end
end
