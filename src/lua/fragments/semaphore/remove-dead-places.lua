-- Each process stands in the line once, and overdue places leave it some at a time, in each script that serves it. So there is nothing to
-- do when the shared walk removes all places of a dead client.
local function removeDeadPlaces()
end
