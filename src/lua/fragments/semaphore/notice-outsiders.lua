-- Reads what is known of outsiders. `line.came`: they have lately had some of what was left to them. `line.others`: they have, or permits
-- came that none of our clients released. The first in the line may listen where outsiders do, as the mark of its deadline says; then it
-- does not count as one (`line.own`).
local function noticeOutsiders(line)
  local known = redis.pcall('HMGET', line.turn, 'value', 'came', 'gave')
  local came = line.left - line.added < (whole(known[1]) or -math.huge) and line.now or whole(known[2]) or 0
  if came == line.now then redis.pcall('HSET', line.turn, 'came', came) end
  line.came = math.abs(line.now - came) < COMES_AGAIN
  local head = redis.call('LINDEX', line.queue, 0)
  local due = head and tonumber(redis.call('ZSCORE', line.deadlines, head)) or 0
  local hears = due % 1 == LISTENS or due % 1 == WILL_LISTEN and due - line.allowance + LISTENS_AFTER <= line.now
  line.own = line.own + (hears and string.sub(head, 1, 36) ~= line.client and 1 or 0)
  local heard = redis.pcall('PUBSUB', line.publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', line.channel)
  -- If the user may not ask that, it is as if the server counted nobody.
  line.counted = line.counted and not heard.err
  line.others = line.came or math.abs(line.now - (whole(known[3]) or 0)) < GAVE_TIME
end
