-- For how many ms this owner still holds a key of a group; 0 if another owner holds it, or the time is over.
local function keyLeft(group, field, owner, now)
  if #owner >= LONGEST_NAME or redis.call('HGET', group, field) ~= owner then
    return 0
  end
  local own = field .. ':' .. owner .. ':expire_time'
  -- A time has fewer digits than this.
  local ends = redis.call('HSTRLEN', group, own) < 20 and redis.call('HGET', group, own)
  return math.max(0, (whole(ends) or 0) - now)
end
