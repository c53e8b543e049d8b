-- Grants in the window from a rank on, `most` of them. Entries too long for a grant are removed, because another program may have written
-- megabytes there. In that case, returns nil and sets `limiter.long`: the next call reads on.
local function grantsAt(limiter, first, most)
  local some, grants, long = membersAt(limiter.permits, first, most), {}, {}
  for i = 1, #some, 2 do
    local list = #some[i] > LONGEST_GRANT and long or grants
    list[#list + 1] = some[i]
  end
  if #long == 0 then
    return grants
  end
  redis.call('ZREM', limiter.permits, unpack(long))
  limiter.long = true
end
