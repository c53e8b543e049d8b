-- Takes these keys from whoever holds them; they go to those in the line who want them.
-- KEYS[1] group
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] sets
-- ARGV[1] channel
-- ARGV[2] grants
-- ARGV[3] publish
-- ARGV[4..] fields
-- returns integer 1 when one of them was held, 0 when all were free
local group, queue, deadlines, sets = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, grants, publish = ARGV[1], ARGV[2], ARGV[3]
local fields = ARGV
--include whole
--include keyed-lock/key-left
--include keyed-lock/give-key
--include keyed-lock/remove-key
--include line/remove-waiter
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include outsiders/is-outsider
--include keyed-lock/set-of
--include keyed-lock/fields-of
--include keyed-lock/mode-of
--include keyed-lock/ends-of
--include keyed-lock/is-holder
--include keyed-lock/grant
--include keyed-lock/grant-channel
--include line/is-heard
--include keyed-lock/enters-or-blocks
--include line/publish-grant
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line

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
  -- On trial they stand in the line still.
  pcall(function()
    for holder in pairs(had) do removeWaiter(line, holder) end
    walkLine(line, {})
  end)
  -- Whoever waits here for a hold of its own process asks what became of it. Freed is freed, also where telling it is refused.
  redis.pcall(publish, channel, '0')
end
return held
