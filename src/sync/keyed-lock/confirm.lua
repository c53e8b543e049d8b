-- Who was granted these keys says that it goes on: it leaves the line and has its lease. Never creates.
-- KEYS group, queue, deadlines, sets
-- ARGV owner, lease (ms), set
--   set: the fields of the keys, with blanks between them
-- returns integer ms that they are this owner's, 0 when they are not all any more

local line = {
  lock = group, queue = queue, deadlines = deadlines, sets = sets, now = serverNow(),
  wants = { [owner] = set }, fields = {}, work = 0,
}
return confirm(line, owner, lease)
