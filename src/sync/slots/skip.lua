-- Claims a slot that nobody has claimed yet, for no run, because none will run it any more.
-- KEYS slot, last
-- ARGV run, due, kept (ms text)
--   due: ms since the epoch, or empty
-- returns integer 1 nobody had claimed it, 0 another run had

if redis.call('EXISTS', slot) == 1 then
  return shortFields(slot, 'run')[1] == run and 1 or 0
end
redis.call('HSET', slot, 'state', 'skipped', 'run', run, 'ended', serverNow())
orUndo(function()
  redis.call('UNLINK', slot)
end, redis.call, 'PEXPIRE', slot, kept)
saveNewestDue(last, due)
return 1
