import type { KeyObject } from 'node:crypto';
import type { Clock } from '#libs/kernel';
import { KeysUnusable, PemKeys, TOKEN_KEYS } from '#libs/platform/keys';

/** The keys that sign access tokens. */
export class SigningKeys extends PemKeys {
  /** @throws {@link KeysUnusable} when there is no key, or a file is not a key */
  static async open(directory: string, clock: Clock): Promise<SigningKeys> {
    const keys = new SigningKeys(TOKEN_KEYS, directory, clock);
    const { faults } = await keys.reread();
    if (faults.length > 0) throw new KeysUnusable(`${faults.join(' ')} It names ${directory}.`);
    return keys;
  }

  /** Returns the key that signs new tokens. */
  current(): { readonly kid: string; readonly privateKey: KeyObject } {
    const key = this.inUse();
    if (!key) throw new Error('There is no signing key.');
    return key;
  }
}
