-- The clients that are connected, some at a time, in the order in which their time ends. A client that moves meanwhile moves to the end, so none is passed over.
-- KEYS register
-- ARGV from
--   from: a score, at first 0
-- returns [string next, string[] clients] where to go on, empty when that is all

local before = redis.call('ZCOUNT', register, '-inf', '(' .. from)
local some, long = membersAt(register, before, 500)
local now, clients = serverNow(), {}
for i = 1, #some, 2 do
  -- What is longer is another program's.
  if #some[i] < LONGEST_NAME and (tonumber(some[i + 1]) or 0) > now then clients[#clients + 1] = some[i] end
end
return { (long or #some == 1000) and some[#some] or '', clients }
