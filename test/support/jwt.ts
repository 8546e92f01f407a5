import { createHmac, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = Readonly<Record<string, unknown>>;

const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const part = (token: string, index: number): Json =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Json;

export const decodeProtectedHeader = (token: string): Json => part(token, 0);
export const decodeJwt = (token: string): Json => part(token, 1);

/** Returns the key that signed the token. */
export const signingKeyOf = (token: string, signingKeysDir: string): KeyObject =>
  createPrivateKey(readFileSync(join(signingKeysDir, `${String(decodeProtectedHeader(token)['kid'])}.pem`)));

/** Makes a token by hand, so that a test can sign content that our code never would. */
export function forgeToken(header: Json, claims: Json, key: KeyObject | string | null): string {
  const content = `${encode(header)}.${encode(claims)}`;
  if (key === null) return `${content}.`;
  const hash = header['alg'] === 'RS512' ? 'sha512' : 'sha256';
  const signature =
    typeof key === 'string'
      ? createHmac('sha256', key).update(content).digest()
      : sign(hash, Buffer.from(content), key);
  return `${content}.${signature.toString('base64url')}`;
}
