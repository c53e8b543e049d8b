-- Confirms a grant: the owner leaves the line and gets its lease, and a token if the lock has a counter. Never creates a hold.
-- KEYS lock, queue, deadlines, counter[4..]
-- ARGV owner, lease (ms), known
-- returns [integer left, digits token | nil] ms that this owner holds it, 0 if it does not any more; its token

local isNew = redis.call('ZSCORE', deadlines, owner)
local left = confirm({ lock = lock, queue = queue, deadlines = deadlines }, owner, lease)
local token = left > 0 and counter[4] ~= nil and nextToken(lock, owner, counter[4], known, isNew)
return type(token) == 'table' and token or { left, token }
