-- Permits that were granted to a silent client lapse by themselves, whatever was evicted, so there is nothing to restore. It is here
-- because the walk is that of permits that do not lapse.
local function restoreDeadlines()
end
