import { Clock } from '#libs/kernel';
import {
  CHECKPOINT_KEYS,
  type DatedKey,
  KEY_KINDS,
  type KeyUse,
  PemKeys,
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
  /** The public part of a checkpoint key, as the key set shows it. Null for other keys, and for a file that is no key. */
  readonly x: string | null;
}

/** Lists keys by id, newest first for each use. Contains no secret. */
export async function listKeys({ signingKeysDir, cursorKeysFile }: Settings): Promise<ListedKey[]> {
  const listed: ListedKey[] = [];
  const publicParts = await publicPartsIn(signingKeysDir);
  for (const kind of Object.values(KEY_KINDS)) {
    const { use } = kind;
    const keys = await listKeyFiles(kind, signingKeysDir).catch(noneWithoutDirectory);
    if (use === 'cursor') keys.push(...(await readCursorKeysFile(cursorKeysFile)));
    const current = keyInUse(keys.sort(newestFirst), Date.now());
    for (const key of keys) {
      const x = use === 'checkpoint' ? (publicParts.get(key.kid) ?? null) : null;
      listed.push({ use, kid: key.kid, current: key === current, createdAt: new Date(key.createdAt), x });
    }
  }
  return listed;
}

/** Returns the public parts of checkpoint keys by id. A file that is no key has none. */
async function publicPartsIn(directory: string): Promise<Map<string, string | undefined>> {
  const keys = new PemKeys(CHECKPOINT_KEYS, directory, new Clock());
  await keys.reread();
  return new Map(keys.jwks.keys.map(({ kid, x }) => [kid, x]));
}

function noneWithoutDirectory(error: NodeJS.ErrnoException): DatedKey[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
