-- What a client has published about its locks, some at a time.
-- KEYS index
-- ARGV from
-- returns [string next, string[pairs] entries] where to go on, 0 when that is all; fields and values in turn

local some, on = fieldsAt(index, from, 200)
return { on, some }
