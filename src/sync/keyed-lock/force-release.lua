-- Releases these keys by force; they go to those in the line that want them.
-- KEYS group, queue, deadlines, sets
-- ARGV channel, grants, publish, fields[4..]
-- returns integer 1 if one of them was held, 0 if all were free

local time = redis.call('TIME')
local line = {
  lock = group, queue = queue, deadlines = deadlines, sets = sets, companion = true, grants = grants, publish = publish,
  client = '', stamp = time[1] .. string.format('%06d', time[2]), now = time[1] * 1000 + math.floor(time[2] / 1000),
  wants = {}, fields = {}, claimed = {}, over = {}, loose = {}, work = FIELDS_LOOKED_AT,
}
local gone, held, had = 0, 0, {}
for i = 4, #fields do
  local holder = redis.call('HGET', group, fields[i])
  if holder then
    held = keyLeft(group, fields[i], holder, line.now) > 0 and 1 or held
    gone, had[holder], line.loose[fields[i]] = gone + removeKey(group, fields[i], holder), true, true
  end
end
if gone > 0 then
  -- Holders on trial still stand in the line.
  pcall(function()
    for holder in pairs(had) do removeWaiter(line, holder) end
    grantInOrder(line, {})
  end)
  -- On this message, calls that wait for a hold of their own process ask what became of it. The keys are free
  -- even if the server refuses it.
  redis.pcall(publish, channel, '0')
end
return held
