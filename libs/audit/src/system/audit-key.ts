import type { SecretFile } from '#libs/platform/keys';

/** The key of the audit's codes: the file byte for byte. Shorter HMAC-SHA256 keys are weaker than the output. */
export const AUDIT_KEY: SecretFile = {
  setting: 'AUDIT_KEY_FILE',
  path: ({ auditKeyFile }) => auditKeyFile,
  shortest: 32,
};
