/** An address with one @, no spaces and at most 254 characters. What it leads to, the issuer verifies. */
export const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);

/** An id of an account at an issuer, in printable ASCII without blanks. */
export const isSubject = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text);
