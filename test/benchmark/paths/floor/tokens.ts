import { type KeyObject, createHmac, createPrivateKey, randomUUID, sign, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Refused, chargeToken, setGeneration } from './access';
import { pool } from './postgres';

const LIFETIME_SECONDS = 3_600;
const ADDRESS = 'https://api.example.test';

const FIND = {
  name: 'find_application',
  text: 'SELECT id, workspace_id, secret_digest, scopes FROM application WHERE client_id = $1 AND NOT disabled',
};
const BEGIN = {
  name: 'begin_generation',
  text: `UPDATE application
            SET generation = GREATEST(generation + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
                jti = $3, issued_at = now()
          WHERE workspace_id = $1 AND id = $2 AND NOT disabled AND secret_digest = $4 RETURNING generation`,
};

const privateKey = createPrivateKey(readFileSync(process.env['SIGNING_KEY'] as string));
const pepper = readFileSync(process.env['SECRET_PEPPER'] as string);
const inThread = promisify(
  (bytes: Buffer, key: KeyObject, done: (error: Error | null, signature?: Buffer) => void): void =>
    void sign('RSA-SHA256', bytes, key, done),
);
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Application {
  readonly id: string;
  readonly workspace_id: string;
  readonly scopes: readonly string[];
}

/** Returns the token and the remaining tokens of the client's bucket. */
export async function issueToken(form: string): Promise<readonly [object, number]> {
  const fields = new URLSearchParams(form);
  const clientId = fields.get('client_id') ?? '';
  const presented = createHmac('sha256', pepper)
    .update(fields.get('client_secret') ?? '')
    .digest();
  const application = await lookUp(clientId, presented);
  const left = await chargeToken(clientId);
  const token = await beginToken(application, presented, clientId);
  const scope = application.scopes.join(' ');
  return [{ access_token: token, expires_in: LIFETIME_SECONDS, token_type: 'Bearer', scope }, left];
}

async function lookUp(clientId: string, presented: Buffer): Promise<Application> {
  const { rows } = await pool.query<Application & { readonly secret_digest: Buffer }>({ values: [clientId], ...FIND });
  const [found] = rows;
  if (!found || !timingSafeEqual(presented, found.secret_digest)) throw new Refused(401);
  return found;
}

async function beginToken(application: Application, secretDigest: Buffer, clientId: string): Promise<string> {
  const { id, workspace_id: workspace, scopes } = application;
  const [tokenId, now] = [randomUUID(), Math.floor(Date.now() / 1_000)];
  const values = [workspace, id, tokenId, secretDigest];
  const { rows } = await pool.query<{ readonly generation: string }>({ values, ...BEGIN });
  const generation = Number(rows[0]?.generation);
  const claims = {
    iss: ADDRESS,
    aud: ADDRESS,
    sub: clientId,
    client_id: clientId,
    application: id,
    workspace,
    scope: scopes.join(' '),
    generation,
    jti: tokenId,
    iat: now,
    nbf: now,
    exp: now + LIFETIME_SECONDS,
  };
  const signed = `${base64url({ alg: 'RS256', typ: 'at+jwt', kid: 'floor' })}.${base64url(claims)}`;
  const signature = await inThread(Buffer.from(signed), privateKey);
  await setGeneration(clientId, generation);
  return `${signed}.${(signature as Buffer).toString('base64url')}`;
}
