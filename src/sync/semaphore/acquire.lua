-- Acquires permits for the calls of one process, in their order, for as many calls as there are permits for, if nobody stands in the line
-- and no permits are left to outsiders. If asked again, the note says what was acquired; it also keeps a late copy from acquiring more. It
-- lasts for as long as the permits may have to be released by it.
-- KEYS permits, note, queue, deadlines, turn
-- ARGV wanted[1..] (count)
-- returns integer how many of the calls have theirs, -1 if no permits are set, -2 if it may be another's turn

local free, noted = notedOrAvailable(permits, note)
if free == nil then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local calls, taken = fitCalls(wanted, 0, free or 0)
if noted then
  return calls
end
if redis.call('EXISTS', queue, deadlines, turn) > 0 then
  if redis.call('EXISTS', queue, deadlines) > 0 or redis.pcall('HEXISTS', turn, 'till') ~= 0 then
    return -2
  end
end
if calls > 0 then
  --functions
  local refusal = takePermits(permits, note, taken, 0)
  if refusal then
    return refusal
  end
end
return free and calls or -1
