-- Runs a step. Redis does not roll back a script whose command it refuses: then `undo` runs first, and the step fails again, with
-- the server's own words.
local function orUndo(undo, step, ...)
  if not pcall(step, ...) then
    undo()
    step(...)
  end
end
