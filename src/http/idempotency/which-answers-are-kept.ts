/** A failure of the server, or a request to come again: a retry runs the handler. */
export const isRetried = (status: number): boolean => status >= 500 || [401, 408, 425, 429].includes(status)
