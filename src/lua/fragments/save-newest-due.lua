-- Remembers the newest slot by when it was due, for those who ask which ones were missed: without an expiry, since slots may lie further
-- apart than they are kept. Where it cannot be written nothing else changes.
local function saveNewestDue(last, due)
  local newest = redis.pcall('GET', last) or '0'
  if due ~= '' and type(newest) == 'string' and (tonumber(newest) or 0) < tonumber(due) then
    redis.pcall('SET', last, due)
  end
end
