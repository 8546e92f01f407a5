import { type KeyObject, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';

const signInThread = promisify(
  (bytes: Buffer, key: KeyObject, done: (error: Error | null, signature?: Buffer) => void): void =>
    void sign('RSA-SHA256', bytes, key, done),
);

const UPDATE = {
  name: 'bare_generation',
  text: 'UPDATE application SET generation = generation + 1, jti = $2, issued_at = now() WHERE client_id = $1',
};

/** The least that a token can cost: an RSA signature over its claims, and the row that makes it the newest. */
export class BareTokens {
  private readonly pool: Pool;
  private readonly key: KeyObject;

  /** With the API's own signing key. */
  constructor(superuserUrl: string, signingKeysDir: string, connections: number) {
    const [file = ''] = readdirSync(signingKeysDir).filter((name) => name.endsWith('.pem'));
    this.key = createPrivateKey(readFileSync(join(signingKeysDir, file)));
    this.pool = new Pool({ connectionString: superuserUrl, max: connections });
  }

  async issue(clientId: string): Promise<string> {
    const tokenId = randomUUID();
    await this.pool.query({ values: [clientId, tokenId], ...UPDATE });
    const claims = { sub: clientId, jti: tokenId, iat: Math.floor(Date.now() / 1000), scope: 'all:read all:write' };
    const signed = `${base64url({ alg: 'RS256', typ: 'at+jwt' })}.${base64url(claims)}`;
    const signature = await signInThread(Buffer.from(signed), this.key);
    return `${signed}.${(signature as Buffer).toString('base64url')}`;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
