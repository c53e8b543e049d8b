-- Who was let in says that it goes on: it leaves the line and has its lease. Never lets in.
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms), companion
-- returns integer ms that it has it, 0 when it does not any more

return confirm({ lock = lock, queue = queue, deadlines = deadlines, companion = companion }, owner, lease)
