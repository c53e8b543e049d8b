-- Reads the counts of a release. They are one number, because a release is sent for each hold: 4 for each visit, 2 if the server counts all
-- that hear a message, 1 if our client may be among them.
local function readCounts(line, counts)
  line.visits, line.counted, line.own = math.floor(counts / 4), counts % 4 > 1, counts % 2
end
