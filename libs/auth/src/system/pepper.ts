import type { SecretFile } from '#libs/platform/keys';

/** The key of the digests of client secrets: the file byte for byte. */
export const PEPPER: SecretFile = {
  setting: 'SECRET_PEPPER_FILE',
  path: ({ secretPepperFile }) => secretPepperFile,
  shortest: 16,
};
