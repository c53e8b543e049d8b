-- Remembers the newest slot by when it was due, for those who ask which ones were missed: without an expiry, since slots may lie further
-- apart than they are kept. One that is not due yet is none, nor is one that was written so: a clock was ahead. Where it cannot be written
-- nothing else changes.
local function saveNewestDue(last, due)
  local now = serverNow()
  local newest = due ~= '' and tonumber(due) <= now and redis.pcall('GETRANGE', last, 0, 31)
  local known = type(newest) == 'string' and (whole(newest) or 0)
  if known and (known < tonumber(due) or known > now) then
    redis.pcall('SET', last, due)
  end
end
