-- The error about a counter that another program wrote: tokens must only grow, and nothing shows which was the newest.
local function wrongCounter(count)
  local shown = string.gsub(count, '[^ -~]', '?')
  return redis.error_reply('WRONGKIND a fencing counter that is not a whole number below 9223372036854775807: "' .. shown .. '"; set it to the newest token that was given out, or more, below 9223372036854775807')
end
