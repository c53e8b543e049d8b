-- Removes the clients that the walk found dead from the line. `ended`: the walk stopped before the end of the line. Then the client that
-- asks gets a message to ask again at once, and continues from there.
local function sweepDeadClients(line, ended)
  removeDeadPlaces(line, LINE_REMOVED)
  -- If a dead client still has places, an overdue mark at the head says so to the next script. It removes the rest, or
  -- serves the place that they hid.
  local head = redis.call('LINDEX', line.queue, 0)
  if head and line.dead[string.sub(head, 1, 36)] then
    redis.call('ZADD', line.deadlines, line.now - 0.5, head)
  end
  if ended then
    redis.pcall(line.publish, line.askerChannel or line.grants .. ':' .. line.client, '0')
    redis.pcall(line.publish, line.grants .. ':' .. line.client .. ':write', '0')
  end
end
