-- Takes so many permits, of which so many are paid for already, and notes it. What a user may not do leaves nothing done: what
-- was refused, or nil.
local function take(permits, note, taken, paid)
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
