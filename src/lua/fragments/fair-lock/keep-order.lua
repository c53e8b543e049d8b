-- Deadlines never fall along the line: who stands behind is not due before `latest`, and keeps its distance from those ahead.
-- Else the last could be overdue while the first is not, and a Redisson's that comes behind it, after it was dropped, reads
-- from the difference how long to sleep: for ever.
local function keepOrder(line, waiting, first, latest)
  local behind = placeAt(line.queue, waiting, first)
  if not behind or (deadlineOf(line, behind) or latest) >= latest then
    return
  end
  local later, moved = 0, {}
  for _, owner in ipairs(placesAt(line.queue, first - 1, LINE_REMOVED)) do
    local deadline = deadlineOf(line, owner) or latest
    -- In whole ms: a fraction is a mark.
    later = math.max(later, math.ceil(latest - deadline))
    latest = deadline + later
    moved[#moved + 1], moved[#moved + 2] = latest, owner
  end
  addScores(line.deadlines, moved)
end
