-- Who holds each of these keys, for how long, and how often; and the waiters in the line of the group, with the keys
-- that they want. Some at a time.
-- KEYS group, queue, deadlines, sets
-- ARGV first (integer), fields[2..]
--   first: where to continue with the waiters, -1 if they are not asked for
-- returns [string[fields] owners, integer[fields] left (ms), integer[fields] counts, string[pairs] waiting owners and deadlines in turn,
-- string[] wants] in the order of the fields; an empty owner: it is free. For each waiter, the fields that it wants, with blanks between
-- them; empty if that is not known

local now = serverNow()
local owners, left, counts, waiting, wants = {}, {}, {}, {}, {}
for i = 2, #fields do
  local field = fields[i]
  local owner = redis.call('HGET', group, field) or ''
  left[i - 1] = keyLeft(group, field, owner, now)
  owners[i - 1] = left[i - 1] > 0 and owner or ''
  local count = left[i - 1] > 0 and whole(redis.call('HGET', group, field .. ':' .. owner .. ':lock_count')) or 0
  counts[i - 1] = math.min(count, MAX_SAFE_INTEGER)
end
for _, owner in ipairs(first < 0 and {} or placesAt(queue, first, KEYED_PART)) do
  local short = #owner < LONGEST_NAME
  waiting[#waiting + 1] = short and owner or ''
  waiting[#waiting + 1] = short and redis.call('ZSCORE', deadlines, owner) or ''
  wants[#wants + 1] = short and redis.call('HSTRLEN', sets, owner) <= 23000 and redis.call('HGET', sets, owner) or ''
end
return { owners, left, counts, waiting, wants }
