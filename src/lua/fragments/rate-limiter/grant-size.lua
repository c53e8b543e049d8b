-- How many permits a grant is for; 0 if it is too short, or longer than any grant of Redisson, because another program wrote it.
local function grantSize(grant)
  return #grant > 3 and #grant <= LONGEST_GRANT and struct.unpack('<I4', grant, #grant - 3) or 0
end
