-- Takes the lock where it is free and it is the owner's turn, or once more. Never joins the line.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] lease (ms text)
-- ARGV[2] owner
-- ARGV[3] now (ms)
-- ARGV[4] allowance (ms)
-- returns 1 held | nil another's

prune(queue, deadlines, now)
if take(lock, queue, deadlines, owner, lease, allowance) then
  return 1
end
return nil
