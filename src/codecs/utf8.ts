const decoder = new TextDecoder()

/** Decodes bytes as text; invalid UTF-8 becomes U+FFFD. */
export const utf8 = (data: Uint8Array): string => decoder.decode(data)
