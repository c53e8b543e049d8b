-- Runs a step. Redis does not roll back a script if it refuses one of its commands. In that case `undo` runs, and then the step fails
-- again, with the server's own error.
local function orUndo(undo, step, ...)
  if not pcall(step, ...) then
    undo()
    step(...)
  end
end
