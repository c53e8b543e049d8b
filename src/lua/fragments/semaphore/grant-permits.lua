-- Removes overdue owners, with what they had been granted, and grants the permits that are left along the line, from its head. An owner
-- that was granted permits keeps its deadline, which says how many, but no place. If our clients got some, the outsiders' turn is over. The
-- new first in the line is woken up if it must know of that before its next poll.
local function grantPermits(line, mine)
  restoreDeadlines(line)
  local overdue, long = membersAt(line.deadlines, 0, 64, line.now)
  for i = 1, long and 0 or #overdue, 2 do leaveLine(line, overdue[i]) end
  -- Entries of another program are among them: megabytes are just removed, and nothing else is done for them.
  if long then redis.call('ZREMRANGEBYRANK', line.deadlines, 0, #overdue / 2 - 1) end
  line.granted = {}
  grantInOrder(line, mine)
  for _, owner in ipairs(line.granted) do
    redis.call('LREM', line.queue, 1, owner)
    if not mine[owner] then
      redis.call('ZADD', line.deadlines, line.now + TRIAL_MARKED + math.min(line.granted[owner], MOST_GRANTED) / GRANT_UNITS, owner)
    end
  end
  -- Our clients got some, or nobody waits: the outsiders' turn ends.
  local head = redis.call('LINDEX', line.queue, 0)
  local wasOpen = (#line.granted > 0 or not head and line.left > 0) and redis.pcall('HDEL', line.turn, 'till') == 1
  if wasOpen then
    redis.pcall('HDEL', line.turn, 'value')
    redis.pcall('HSET', line.turn, 'since', line.now, 'visits', 0)
  end
  -- The first in the line asked, and was granted permits although none of our clients released any: there are outsiders that do.
  local found = not wasOpen and not line.lapsed and mine[line.first] and line.granted[line.first]
  if found then
    redis.pcall('HSET', line.turn, 'gave', line.now)
    redis.pcall('PEXPIRE', line.turn, GAVE_TIME)
  end
  -- The head must ask for itself, because one step cannot grant as many as it wants. Or it must listen to outsiders, if there are any, or
  -- if those before it left without permits.
  if head and (line.asks or head ~= line.first and not mine[head] and (line.others or found or #line.granted == 0)) then
    redis.pcall(line.publish, grantChannel(line, head), '0')
  end
  -- There may be more: the client that asks must ask again at once.
  if #overdue == 128 or long then redis.pcall(line.publish, grantChannel(line, line.client), '0') end
end
