-- Acquires the lock if it is free and it is the owner's turn, or acquires it again. Never joins the line.
-- KEYS lock, queue, deadlines
-- ARGV lease (ms text), owner, now (ms), allowance (ms)
-- returns 1 held | nil another's

prune(queue, deadlines, now)
if take(lock, queue, deadlines, owner, lease, allowance) then
  return 1
end
return nil
