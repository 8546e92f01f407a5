/** The rule of {@link isOperatorName}, for people. */
export const OPERATOR_NAME_RULE = '1 to 64 printable characters without @, and not "person " at the beginning';

/**
 * A name for the audit. Without `@` it is no e-mail address, which would be personal data that stays. The web console
 * records people as `person` and their id.
 */
export const isOperatorName = (text: string): boolean =>
  /^(?!person )[^@\p{C}]{1,64}$/u.test(text) && text.trim() !== '';
