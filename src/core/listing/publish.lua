-- Writes what has changed in the index of a client: what it has held or waited for longer than a second.
-- KEYS index
-- ARGV stays (ms), gone (count), entries[3..]
--   stays: for how long the index is kept, at least as long as everything in it lasts
--   entries: first the fields that go, as many as `gone`; then fields and values, in turn
-- returns integer how many fields the index has now

local last = gone + 2
for i = 3, last, 1000 do redis.call('HDEL', index, unpack(entries, i, math.min(i + 999, last))) end
for i = last + 1, #entries, 1000 do redis.call('HSET', index, unpack(entries, i, math.min(i + 999, #entries))) end
-- Without the permission for it, no key stays behind that never expires.
if type(redis.pcall('PEXPIRE', index, stays)) == 'table' then
  redis.call('DEL', index)
end
return redis.call('HLEN', index)
