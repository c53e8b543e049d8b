-- The fields of a place's set, as far as it may be looked at.
local function fieldsOf(line, owner)
  local fields, set = line.fields[owner] or {}, setOf(line, owner, FIELD_AND_BLANK * line.work)
  if set and not fields[1] then
    -- What is shorter was written by another program, and may be many thousands.
    for field in string.gmatch(set, string.rep('%S', FIELD)) do fields[#fields + 1] = field end
    line.fields[owner] = fields
  end
  return fields
end
