-- Remembers the newest slot by when it was due. For those who ask which ones were missed: that it cannot be written changes nothing else.
local function newestDue(last, due, kept)
  local newest = redis.pcall('GET', last) or '0'
  if due ~= '' and type(newest) == 'string' and (tonumber(newest) or 0) < tonumber(due) then
    redis.pcall('SET', last, due, 'PX', kept)
  end
end
