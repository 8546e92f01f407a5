import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from 'jose';

/** Making an RSA key takes long, so the issuers of a test file take turns with three. */
const RSA_PAIRS: ReturnType<typeof pairOf>[] = [];
let given = 0;

const pairOf = (algorithm: string) => generateKeyPair(algorithm, { extractable: true });
/** Returns another pair than the two before. */
const otherPairOf = (algorithm: string) =>
  algorithm === 'RS256' ? (RSA_PAIRS[(given += 1) % 3] ??= pairOf(algorithm)) : pairOf(algorithm);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An issuer of workload tokens on a loopback address. */
export class StandInIssuer {
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  discovery: Record<string, unknown>;
  /** Replaces the answer at a path, without percent-encoding. */
  readonly answers = new Map<string, Answer>();
  keys: JWK[] = [];
  private privateKey!: CryptoKey;
  private kid = '';
  private algorithm = 'RS256';

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    this.discovery = { issuer: url, jwks_uri: `${url}/jwks` };
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const path = request.url ?? '';
      this.asked.push(path);
      const answer = this.answers.get(decodeURIComponent(path));
      if (answer) return answer(request, response);
      const documents = { '/.well-known/openid-configuration': this.discovery, '/jwks': { keys: this.keys } };
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(documents[path as '/jwks'] ?? {}));
    });
  }

  static async start(algorithm = 'RS256'): Promise<StandInIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = new StandInIssuer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await issuer.rotate(algorithm);
    return issuer;
  }

  /** Signs with a new key from now on. The old ones stay in the set unless `drop` says so. */
  async rotate(algorithm = this.algorithm, { drop = false } = {}): Promise<void> {
    const pair = await otherPairOf(algorithm);
    this.algorithm = algorithm;
    this.privateKey = pair.privateKey;
    this.kid = `key-${this.keys.length + 1}-${Math.random().toString(36).slice(2, 8)}`;
    const fresh = { ...(await exportJWK(pair.publicKey)), kid: this.kid, use: 'sig', alg: algorithm };
    this.keys = drop ? [fresh] : [...this.keys, fresh];
  }

  async token(claims: Record<string, unknown>, header: object = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: this.url, iat: now, nbf: now - 5, exp: now + 300, ...claims };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: this.algorithm, kid: this.kid, typ: 'JWT', ...header })
      .sign(this.privateKey);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
