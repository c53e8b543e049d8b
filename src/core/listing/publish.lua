-- Writes what has changed in the index of a client: what it has held or waited for longer than a second.
-- KEYS index
-- ARGV lease (ms), gone (count), entries[3..]
--   entries: first the fields that go, as many as `gone`; then fields and values, in turn
-- returns integer how many fields the index has now

local last = gone + 2
for i = 3, last, 1000 do redis.call('HDEL', index, unpack(entries, i, math.min(i + 999, last))) end
for i = last + 1, #entries, 1000 do redis.call('HSET', index, unpack(entries, i, math.min(i + 999, #entries))) end
-- Without the permission for it, no key stays behind that never expires.
if type(redis.pcall('PEXPIRE', index, lease)) == 'table' then
  redis.call('DEL', index)
end
return redis.call('HLEN', index)
