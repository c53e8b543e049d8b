-- Who is overdue leaves the line, and what it had been granted is given back; then the permits that are left are granted along the
-- line, from its head. Who was granted some stands there no longer: it has its deadline, which tells how many, too, and its permits. If
-- ours have some now, it is their turn again. Whoever is first now is called to hear of others' releases, where there are others, and
-- where those before it left with nothing, or found permits that nobody had granted them.
local function serve(line, mine)
  restoreDeadlines(line)
  local overdue = redis.call('ZRANGEBYSCORE', line.deadlines, '-inf', line.now, 'LIMIT', 0, 128)
  for _, owner in ipairs(overdue) do leaveLine(line, owner) end
  line.granted = {}
  serveLine(line, mine)
  for _, owner in ipairs(line.granted) do
    redis.call('LREM', line.queue, 1, owner)
    if not mine[owner] then
      redis.call('ZADD', line.deadlines, line.now + TRIAL_MARKED + math.min(line.granted[owner], MOST_GRANTED) / GRANT_UNITS, owner)
    end
  end
  local head = redis.call('LINDEX', line.queue, 0)
  local wasOpen = (#line.granted > 0 or not head and line.left > 0) and redis.pcall('HDEL', line.turn, 'till') == 1
  if wasOpen then
    redis.pcall('HDEL', line.turn, 'value')
    redis.pcall('HSET', line.turn, 'since', line.now, 'visits', 0)
  end
  local found = not wasOpen and not line.lapsed and mine[line.first] and line.granted[line.first]
  if found then
    redis.pcall('HSET', line.turn, 'gave', line.now)
    redis.pcall('PEXPIRE', line.turn, GAVE_TIME)
  end
  if head and (line.asks or head ~= line.first and not mine[head] and (line.others or found or #line.granted == 0)) then
    redis.pcall(line.publish, grantChannel(line, head), '0')
  end
  -- There may be more: the client that asks is to ask again at once.
  if #overdue == 128 then redis.pcall(line.publish, grantChannel(line, line.client), '0') end
end
