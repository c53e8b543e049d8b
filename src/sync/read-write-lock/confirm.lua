-- Who was let in says that it goes on: it leaves the line and has its lease. Never lets in.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3] companion
-- returns integer ms that it has it, 0 when it does not any more

return confirm({ lock = lock, queue = queue, deadlines = deadlines, companion = companion }, owner, lease)
