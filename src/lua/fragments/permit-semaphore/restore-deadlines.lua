-- Permits that were granted to a silent client lapse by themselves, whatever was evicted, so there is nothing to restore. This function
-- exists because the walk, which calls it, is that of permits that do not lapse.
local function restoreDeadlines()
end
