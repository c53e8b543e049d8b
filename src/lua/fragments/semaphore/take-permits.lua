-- Takes permits out of the count, of which some are out already (`paid`), and writes the note. If the user may not do one of these, nothing
-- is done. Returns what was refused, or nil.
local function takePermits(permits, note, taken, paid)
  local kept, done = redis.pcall('SET', note, taken, 'PX', LONG_NOTE_TIME), 0
  if not kept.err and taken ~= paid then
    done = redis.pcall('DECRBY', permits, taken - paid)
  end
  if kept.err or type(done) == 'table' then
    if paid > 0 then
      redis.pcall('INCRBY', permits, paid)
    end
    redis.pcall('SET', note, 0, 'PX', LONG_NOTE_TIME)
    return kept.err and kept or done
  end
end
