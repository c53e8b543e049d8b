-- What is known of a slot, whether a process runs it now, and the server's time.
-- KEYS slot, lock
-- returns [string | nil state, string | nil run, string | nil attempt, string | nil token, string | nil began, string | nil ended, integer running, integer now]

local known = shortFields(slot, 'state', 'run', 'attempt', 'token', 'began', 'ended')
local running = redis.call('EXISTS', lock)
return { known[1], known[2], known[3], known[4], known[5], known[6], running, serverNow() }
