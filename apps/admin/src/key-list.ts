import {
  type DatedKey,
  KEY_KINDS,
  type KeyUse,
  keyInUse,
  listKeys as listKeyFiles,
  newestFirst,
  readCursorKeysFile,
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
export async function listKeys({ signingKeysDir, cursorKeysFile }: Settings): Promise<ListedKey[]> {
  const listed: ListedKey[] = [];
  for (const kind of Object.values(KEY_KINDS)) {
    const { use } = kind;
    const keys = await listKeyFiles(kind, signingKeysDir).catch(noneWithoutDirectory);
    if (use === 'cursor') keys.push(...(await readCursorKeysFile(cursorKeysFile)));
    const current = keyInUse(keys.sort(newestFirst), Date.now());
    for (const key of keys) {
      listed.push({ use, kid: key.kid, current: key === current, createdAt: new Date(key.createdAt) });
    }
  }
  return listed;
}

function noneWithoutDirectory(error: NodeJS.ErrnoException): DatedKey[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
