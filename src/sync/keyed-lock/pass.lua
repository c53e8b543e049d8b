-- Passes a hold of these keys on to another owner: to the next waiter of this process, or to whoever adopts a ticket.
-- Asked again by the new owner (a reply was lost), it is still one hold.
-- KEYS group
-- ARGV from, to, lease (ms), fields[4..]
-- returns integer 1 passed, 0 when they were not all one of theirs

local now = serverNow()
for i = 4, #fields do
  if keyLeft(group, fields[i], from, now) == 0 and keyLeft(group, fields[i], to, now) == 0 then
    return 0
  end
end
for i = 4, #fields do
  giveKey(group, fields[i], to, now + lease, 1)
  -- After that: a group that is empty in between loses its expiry.
  removeKey(group, fields[i], from)
end
extendExpiry(group, lease)
return 1
