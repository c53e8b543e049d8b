-- The fields of a place's set; none if the set is larger than the work that is left.
local function fieldsOf(line, owner)
  local fields, set = line.fields[owner] or {}, wantsOf(line, owner, FIELD_AND_BLANK * line.work)
  if set and not fields[1] then
    -- Shorter words were written by another program, and may be many thousands.
    for field in string.gmatch(set, string.rep('%S', FIELD)) do fields[#fields + 1] = field end
    line.fields[owner] = fields
  end
  return fields
end
