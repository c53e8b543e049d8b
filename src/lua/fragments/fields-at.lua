-- Fields of a hash and their values, in turn, from a cursor on: about `most` fields, or fewer if they come to more than `longest` bytes, or without it are longer than
-- wire names, because another program may have written megabytes there. Also returns the cursor to continue from, '0' if that is all.
local function fieldsAt(key, from, most, longest)
  local some, bytes, part = {}, 0, 1
  repeat
    local found = redis.call('HSCAN', key, from, 'COUNT', part)
    from = found[1]
    for _, text in ipairs(found[2]) do some[#some + 1], bytes = text, bytes + #text end
    part = math.min(4 * part, most - math.ceil(#some / 2))
  until from == '0' or part < 1 or bytes > (longest or LONGEST_NAME * #some)
  return some, from
end
