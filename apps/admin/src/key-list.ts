import { listSigningKeys } from '#libs/auth/operators';
import { type DatedKey, keyInUse, listCursorKeys } from '#libs/platform/keys';
import { type Settings } from '#libs/platform/config';

export type KeyUse = 'signing' | 'cursor';

export interface ListedKey {
  readonly use: KeyUse;
  readonly kid: string;
  /** True for the key that makes new tokens or cursors. The others are only accepted. */
  readonly current: boolean;
  readonly createdAt: Date;
}

/** Lists keys by id, newest first for each use. Contains no key material. */
export async function listKeys(settings: Settings): Promise<ListedKey[]> {
  return [
    ...listed('signing', await signingKeys(settings.signingKeysDir)),
    ...listed('cursor', listCursorKeys(settings.cursorKeysFile)),
  ];
}

async function signingKeys(directory: string): Promise<DatedKey[]> {
  try {
    return await listSigningKeys(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function listed(use: KeyUse, keys: readonly DatedKey[]): ListedKey[] {
  const current = keyInUse(keys, Date.now());
  return keys.map((key) => ({
    use,
    kid: key.kid,
    current: key === current,
    createdAt: new Date(key.createdAt),
  }));
}
