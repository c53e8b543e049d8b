-- Confirms a grant of these keys: the owner leaves the line and gets its lease. Never creates a hold.
-- KEYS group, queue, deadlines, sets
-- ARGV owner, lease (ms), set
--   set: the fields of the keys, with blanks between them
-- returns integer ms that this owner holds them, 0 if it does not hold all of them any more

local line = {
  lock = group, queue = queue, deadlines = deadlines, sets = sets, now = serverNow(),
  wants = { [owner] = set }, fields = {}, work = 0,
}
return confirm(line, owner, lease)
