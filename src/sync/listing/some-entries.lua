-- What a client has published under these fields. What is longer than any entry is another program's, and is left out.
-- KEYS index
-- ARGV fields[1..]
-- returns [integer left, string[fields] values] for how many ms the key is kept, -1 without expiry, -2 if there is none; an empty value: none

local values = {}
for i = 1, #fields do
  local short = redis.call('HSTRLEN', index, fields[i]) <= LONGEST_ENTRY
  values[i] = short and redis.call('HGET', index, fields[i]) or ''
end
return { redis.call('PTTL', index), values }
