/** As the system, or what the person has chosen. */
export type Theme = 'system' | 'light' | 'dark'

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const KEY = 'holdfast-theme'

/** A browser may forbid to keep anything. */
const kept = (): string | null => {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

const keep = (theme: Theme): void => {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // The choice lasts as long as the page.
  }
}

export const themeNow = (): Theme => {
  const theme = kept()
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export const show = (theme: Theme): Theme => {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  keep(theme)
  return theme
}

export const after = (theme: Theme): Theme => show(NEXT[theme])
