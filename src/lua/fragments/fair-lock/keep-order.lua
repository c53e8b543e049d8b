-- Deadlines never decrease along the line: a place behind is not due before `latest`, and keeps its distance from those ahead. Otherwise
-- the last place could be overdue while the first is not. Once that last place was dropped, a Redisson client that joins behind it would
-- compute from the difference that it should sleep forever.
local function keepOrder(line, waiting, first, latest)
  local behind = placeAt(line.queue, waiting, first)
  if not behind or (storedDeadline(line, behind) or latest) >= latest then
    return
  end
  local later, moved = 0, {}
  for _, owner in ipairs(placesAt(line.queue, first - 1, LINE_REMOVED)) do
    local deadline = storedDeadline(line, owner) or latest
    -- In whole ms, because a fraction is a mark.
    later = math.max(later, math.ceil(latest - deadline))
    latest = deadline + later
    moved[#moved + 1], moved[#moved + 2] = latest, owner
  end
  addScores(line.deadlines, moved)
end
