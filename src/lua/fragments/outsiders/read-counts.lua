-- What a release says in one number, since it is sent for each hold: 4 for each visit, 2 where the server counts all who hear a message,
-- 1 where our client may be among them.
local function readCounts(line, counts)
  line.visits, line.counted, line.own = math.floor(counts / 4), counts % 4 > 1, counts % 2
end
