import type { KeyObject } from 'node:crypto';
import type { Clock } from '#libs/kernel';
import { PemKeys, TOKEN_KEYS } from '#libs/platform/keys';

/** The keys that sign access tokens. */
export class SigningKeys extends PemKeys {
  constructor(directory: string, clock: Clock) {
    super(TOKEN_KEYS, directory, clock);
  }

  /** Returns the key that signs new tokens. */
  current(): { readonly kid: string; readonly privateKey: KeyObject } {
    const key = this.inUse();
    if (!key) throw new Error('There is no signing key.');
    return { kid: key.kid, privateKey: key.material.privateKey };
  }
}
