-- Whether the client of a place is dead: the place has no deadline, or it let the trial of a grant lapse, and its client is not the one that
-- asks now. Then the client loses all its places.
local function isDead(line, client, deadline)
  return not deadline or deadline <= line.now and deadline % 1 ~= 0 and deadline % 1 < UNCOUNTED and client ~= line.client
end
