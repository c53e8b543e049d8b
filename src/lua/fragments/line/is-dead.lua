-- Whether the client of a place is dead: it was found dead before, so that the deadline was not looked up (false); or it let the trial of a
-- grant lapse, and is not the client that asks now. Then it loses all its places. A place without a deadline (0) is only overdue.
local function isDead(line, client, deadline)
  return not deadline or deadline <= line.now and deadline % 1 ~= 0 and deadline % 1 < UNCOUNTED and client ~= line.client
end
