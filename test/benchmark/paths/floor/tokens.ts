import { type KeyObject, createHmac, createPrivateKey, randomUUID, sign, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Refused, chargeRemembered, chargeToken, remember, setGeneration } from './access';
import { pool } from './postgres';

const LIFETIME_SECONDS = 3_600;
const ADDRESS = 'https://api.example.test';

const FIND = {
  name: 'find_application',
  text: 'SELECT id, workspace_id, secret_digest, scopes FROM application WHERE client_id = $1 AND NOT disabled',
};
const BEGIN = {
  name: 'begin_generation',
  text: `UPDATE application SET generation = $3, jti = $4, issued_at = now()
          WHERE workspace_id = $1 AND id = $2 AND generation < $3 AND NOT disabled
            AND secret_digest = $5 AND scopes = $6::text[]`,
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

let lastGeneration = 0;

/** The token, and what is left of its client's bucket. The signature is made while Postgres commits its generation. */
export async function issueToken(form: string): Promise<readonly [object, number]> {
  const fields = new URLSearchParams(form);
  const clientId = fields.get('client_id') ?? '';
  const presented = createHmac('sha256', pepper)
    .update(fields.get('client_secret') ?? '')
    .digest();
  const remembered = await chargeRemembered<Application>(clientId, presented.toString('hex'));
  const [application, left] = remembered ?? (await lookUp(clientId, presented));
  const token = await beginToken(application, presented, clientId);
  const scope = application.scopes.join(' ');
  return [{ access_token: token, expires_in: LIFETIME_SECONDS, token_type: 'Bearer', scope }, left];
}

async function lookUp(clientId: string, presented: Buffer): Promise<readonly [Application, number]> {
  const { rows } = await pool.query<Application & { readonly secret_digest: Buffer }>({ values: [clientId], ...FIND });
  const [found] = rows;
  if (!found || !timingSafeEqual(presented, found.secret_digest)) throw new Refused(401);
  const { secret_digest: digest, ...application } = found;
  await remember(clientId, digest.toString('hex'), application);
  return [application, await chargeToken(clientId)];
}

/** Anew when another request for the same application came in between, and began a later generation. */
async function beginToken(application: Application, secretDigest: Buffer, clientId: string): Promise<string> {
  const { id, workspace_id: workspace, scopes } = application;
  for (;;) {
    lastGeneration = Math.max(lastGeneration + 1, Date.now() * 1_000);
    const [generation, tokenId, now] = [lastGeneration, randomUUID(), Math.floor(Date.now() / 1_000)];
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
    const [signature, { rowCount }] = await Promise.all([
      inThread(Buffer.from(signed), privateKey),
      pool.query({ values: [workspace, id, generation, tokenId, secretDigest, scopes], ...BEGIN }),
    ]);
    if (rowCount !== 1) continue;
    await setGeneration(clientId, generation);
    return `${signed}.${(signature as Buffer).toString('base64url')}`;
  }
}
