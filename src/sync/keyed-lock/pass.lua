-- Passes a hold of these keys to another owner: to the next waiter of this process, or to the call that adopts a ticket. If the new owner
-- asks again (a reply was lost), it is still one hold.
-- KEYS group
-- ARGV from, to, lease (ms), fields[4..]
-- returns integer 1 passed, 0 if neither owner holds one of them

local now = serverNow()
for i = 4, #fields do
  if keyLeft(group, fields[i], from, now) == 0 and keyLeft(group, fields[i], to, now) == 0 then
    return 0
  end
end
for i = 4, #fields do
  giveKey(group, fields[i], to, now + lease, 1)
  -- Only now, because a group that is empty in between loses its expiry.
  removeKey(group, fields[i], from)
end
extendExpiry(group, lease)
return 1
