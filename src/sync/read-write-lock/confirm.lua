-- Confirms a grant: the owner leaves the line and gets its lease. Never lets an owner in.
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms), companion
-- returns integer ms that it holds the lock, 0 if it does not any more

return confirm({ lock = lock, queue = queue, deadlines = deadlines, companion = companion }, owner, lease)
