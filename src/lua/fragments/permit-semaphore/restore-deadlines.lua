-- Permits that were granted to who does not ask any more lapse by themselves, whatever was evicted: there is nothing to look for. The
-- walk is the one of permits that do not lapse.
local function restoreDeadlines()
end
