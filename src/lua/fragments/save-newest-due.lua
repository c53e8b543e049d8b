-- Remembers the newest slot by when it was due, without an expiry: slots may lie further apart than they are kept. For those who ask which ones were
-- missed: that it cannot be written changes nothing else.
local function saveNewestDue(last, due)
  local newest = redis.pcall('GET', last) or '0'
  if due ~= '' and type(newest) == 'string' and (tonumber(newest) or 0) < tonumber(due) then
    redis.pcall('SET', last, due)
  end
end
