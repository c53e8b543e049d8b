-- Adds the next calls to `fit`, in their order, as long as there are permits for them (`left`). `fit` knows how many calls it has, the
-- place of the next one, how many permits they take, and the ids and leases of those permits. A call that has its ids already takes none.
-- Each of the calls: a lease in ms, 0 for no end; how many permits; that many ids.
local function fitCalls(timeouts, calls, fit, left)
  while calls[fit.place] do
    local place, count = fit.place, tonumber(calls[fit.place + 1])
    if not redis.call('ZSCORE', timeouts, memberOf(calls[place + 2])) then
      if count > left then return end
      left, fit.taken = left - count, fit.taken + count
      for i = place + 2, place + 1 + count do
        fit.leases[#fit.ids + 1], fit.ids[#fit.ids + 1] = calls[place], memberOf(calls[i])
      end
    end
    fit.served, fit.place = fit.served + 1, place + 2 + count
  end
end
