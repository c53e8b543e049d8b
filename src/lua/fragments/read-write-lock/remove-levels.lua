-- Removes the keys of all levels of a read. If their number is not known, removes as many as exist, up to a limit: nobody reads as often as
-- another program may have written there, and the rest expires.
local function removeLevels(levels, count)
  local level, gone = 0, false
  repeat
    level = level + 1
    gone = redis.call('UNLINK', levels .. ':' .. level) == 0
  until count > 0 and level >= count or gone and (count == 0 or level > LEVELS_TRUSTED) or count == 0 and level >= READS_LOOKED_AT
end
