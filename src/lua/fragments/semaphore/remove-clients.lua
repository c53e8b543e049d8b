-- Each process stands in the line once: who is overdue leaves it some at a time, in each script that serves it. What the shared walk
-- calls for all that a dead client has there does nothing.
local function removeClients()
end
