-- Remembers the newest slot by when it was due, for those who ask which ones were missed: without an expiry, since slots may lie further
-- apart than they are kept. Where it cannot be written nothing else changes.
local function saveNewestDue(last, due)
  local newest = due ~= '' and redis.pcall('GETRANGE', last, 0, 31)
  if type(newest) == 'string' and (whole(newest) or 0) < tonumber(due) then
    redis.pcall('SET', last, due)
  end
end
