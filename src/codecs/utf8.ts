const decoder = new TextDecoder()

/** Text of bytes; what is no UTF-8 becomes U+FFFD. */
export const utf8 = (data: Uint8Array): string => decoder.decode(data)
