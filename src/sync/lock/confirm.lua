-- Who was granted the lock says that it goes on: it leaves the line and has its lease, and a token where the lock has a counter.
-- Never creates.
-- KEYS lock, queue, deadlines, counter[4..]
-- ARGV owner, lease (ms), known
-- returns [integer left, digits token | nil] ms that it is this owner's, 0 when it is not any more; its token

local isNew = redis.call('ZSCORE', deadlines, owner)
local left = confirm({ lock = lock, queue = queue, deadlines = deadlines }, owner, lease)
return { left, left > 0 and counter[4] ~= nil and nextToken(lock, owner, counter[4], known, isNew) }
