-- Claims a slot that nobody has claimed yet, for no run: nobody runs it any more.
-- KEYS[1] slot
-- KEYS[2] last
-- ARGV[1] run
-- ARGV[2] due ms since the epoch, or an empty text
-- ARGV[3] kept (ms text)
-- returns integer 1 nobody had claimed it, 0 somebody had

if redis.call('EXISTS', slot) == 1 then
  return shortFields(slot, 'run')[1] == run and 1 or 0
end
redis.call('HSET', slot, 'state', 'skipped', 'run', run, 'ended', serverNow())
orUndo(function()
  redis.call('UNLINK', slot)
end, redis.call, 'PEXPIRE', slot, kept)
saveNewestDue(last, due)
return 1
