// What the host calls.

export const lapi = [
  { from: 'delete L.stack[--L.top];', to: '--L.top;', times: 16 },
  { from: 'ts.getstr()', to: 'ts', times: 2 },
]
