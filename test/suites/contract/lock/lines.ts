/** Of a kind of lock: which lines of Redisson's tests say of it what others say of the plain one. */
export type Lines = Readonly<Record<string, string>>

export const fairLockLines: Lines = {
  L06: 'F11',
  L08: 'F12',
  L09: 'F13',
  L12: 'F14',
  L13: 'F15',
  L14: 'F16',
  L15: 'F17',
  L16: 'F18',
  L18: 'F19',
  L19: 'F20',
  L20: 'F21',
  L21: 'F22',
  L23: 'F23',
  L24: 'F24',
  L25: 'F25',
  N01: 'NF01',
  N02: 'NF02',
  N03: 'NF03',
}

export const spinLockLines: Lines = {
  L06: 'SP02',
  L08: 'SP04',
  L09: 'SP05',
  L12: 'SP07',
  L13: 'SP08',
  L14: 'SP09',
  L15: 'SP10',
  L16: 'SP11',
  L18: 'SP12',
  L19: 'SP13',
  L20: 'SP14',
  L21: 'SP15',
  L23: 'SP16',
  L24: 'SP17',
  L25: 'SP18',
}

export const keyedLockLines: Lines = {
  L01: 'G08',
  L02: 'G09',
  L03: 'G10',
  L07: 'G12',
  L09: 'G13',
  L12: 'G15',
  L14: 'G16',
  L15: 'G17',
  L16: 'G18',
  L18: 'G19',
  L19: 'G20',
  L21: 'G21',
  L23: 'G22',
  L24: 'G23',
  L25: 'G24',
}

export const readLockLines: Lines = {
  L13: 'RW20',
  L14: 'RW21',
  L15: 'RW22',
  L16: 'RW23',
  L18: 'RW24',
  L20: 'RW26',
}

/** A test's name with the lines that it is for where it runs for such a lock. */
export const named = (name: string, lines: Lines): string => name.replace(/\b[LN]\d\d\b/g, (id) => lines[id] ?? id)
