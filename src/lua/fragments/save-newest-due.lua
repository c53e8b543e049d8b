-- Remembers when the newest slot was due, for calls that ask which slots were missed. It has no expiry, because slots may lie further apart
-- than they are kept. A slot that is not due yet does not count, nor does a time in the future that was written before: a clock was ahead.
-- If this cannot be written, nothing else changes.
local function saveNewestDue(last, due)
  local now = serverNow()
  local newest = due ~= '' and tonumber(due) <= now and redis.pcall('GETRANGE', last, 0, 31)
  local known = type(newest) == 'string' and (whole(newest) or 0)
  if known and (known < tonumber(due) or known > now) then
    redis.pcall('SET', last, due)
  end
end
