import {
  CHECKPOINT_KEYS,
  type DatedKey,
  type KeyUse,
  type PemKeyKind,
  TOKEN_KEYS,
  keyInUse,
  listCursorKeys,
  listPemKeys,
} from '#libs/platform/keys';
import { type Settings } from '#libs/platform/config';

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
    ...listed('signing', await pemKeys(TOKEN_KEYS, settings.signingKeysDir)),
    ...listed('cursor', listCursorKeys(settings.cursorKeysFile)),
    ...listed('checkpoint', await pemKeys(CHECKPOINT_KEYS, settings.signingKeysDir)),
  ];
}

async function pemKeys(kind: PemKeyKind, directory: string): Promise<DatedKey[]> {
  try {
    return await listPemKeys(kind, directory);
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
