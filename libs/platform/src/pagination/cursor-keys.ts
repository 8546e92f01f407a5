import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** One key of the cursors: AES-256, named by the id that each cursor carries. */
export interface CursorKey {
  readonly kid: string;
  readonly secret: Buffer;
}

const keyFileSchema = z.object({
  keys: z
    .array(z.object({ kid: z.string().regex(/^[0-9a-f]{8}$/), secret: z.base64(), createdAt: z.iso.datetime() }))
    .min(1),
});

export type CursorKeyFile = z.infer<typeof keyFileSchema>;

/** The keys of a key file, newest first: the first issues cursors, all of them accept. */
export function readCursorKeys(text: string): CursorKey[] {
  const { keys } = keyFileSchema.parse(JSON.parse(text));
  return keys.map(({ kid, secret }) => {
    const bytes = Buffer.from(secret, 'base64');
    if (bytes.length !== 32) throw new Error(`The cursor key ${kid} is not of 32 bytes.`);
    return { kid, secret: bytes };
  });
}

/** A key file with one new key. */
export function newCursorKeyFile(now: number): string {
  const key = {
    kid: randomBytes(4).toString('hex'),
    secret: randomBytes(32).toString('base64'),
    createdAt: new Date(now).toISOString(),
  };
  return `${JSON.stringify({ keys: [key] } satisfies CursorKeyFile, null, 2)}\n`;
}
