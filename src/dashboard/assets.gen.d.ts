/** The page, its script and its style sheet, as the build has made them. */
export const PAGE: string
export const SCRIPT: string
export const STYLE: string
