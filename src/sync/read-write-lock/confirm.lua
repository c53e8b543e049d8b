-- Those of one client who were let in say that they go on: they leave the line and have their leases. Never lets in.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] companion
-- ARGV[2..] owners and their leases in turn
-- returns integer[owners/2] ms that each has it, 0 when it does not any more
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local companion = ARGV[1]
local owners = ARGV
--include readers/is-in
--include take-out
--include count-of
--include readers/settle

local left = {}
for i = 2, #owners, 2 do
  left[#left + 1] = settle({ lock = lock, queue = queue, deadlines = deadlines, companion = companion }, owners[i], tonumber(owners[i + 1]))
end
return left
