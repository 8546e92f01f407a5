import { randomUUID } from 'node:crypto';
import type { RateClass } from '#libs/kernel';
import { type ArrangedApplication, type Arrangement } from '../support/arrangement';
import { type FaultSetting } from './fault-setting';

/** The outcome of one request: `ok`, a problem code, or `lost` without a response. */
export interface Outcome {
  readonly word: string;
  readonly status: number | null;
  readonly accessToken: string | null;
  readonly retryAfterSeconds: number | null;
  readonly milliseconds: number;
}

/** Limits as “sustained per minute/burst”, for the classes that differ from the settings. */
export type OwnLimits = Readonly<Partial<Record<RateClass, string>>>;

export const NO_LIMITS: OwnLimits = { token: '100000/100000', read: '100000/100000', write: '100000/100000' };

/** Longer than the API may take: a late response tells more than a timeout. */
const RESPONSE_MS = 30_000;

/** An application that sends every kind of request to one instance or another. */
export class ClientApplication {
  private constructor(private readonly credentials: ArrangedApplication) {}

  /** Belongs to the workspace of the current test. */
  static async arrange(setting: FaultSetting, arrange: Arrangement, limits: OwnLimits): Promise<ClientApplication> {
    const credentials = await arrange.anApplication(setting.workspace);
    await setting.admin.query('UPDATE application SET limits = $2 WHERE client_id = $1', [
      credentials.clientId,
      JSON.stringify(limits),
    ]);
    return new ClientApplication(credentials);
  }

  /** Identifies it in a log. */
  get name(): string {
    return this.credentials.clientId;
  }

  async issue(origin: string, from?: string): Promise<Outcome> {
    return this.issueBy(this.credentials.clientSecret, origin, from);
  }

  /** Requests a token with a well-formed but unknown secret. */
  async forge(origin: string, from?: string): Promise<Outcome> {
    return this.issueBy(`cs_${randomUUID()}${randomUUID()}`.slice(0, 52), origin, from);
  }

  /** Returns a token, and fails when none is issued. */
  async token(origin: string): Promise<string> {
    const { word, accessToken } = await this.issue(origin);
    if (accessToken === null) throw new Error(`No token: ${word}`);
    return accessToken;
  }

  async read(origin: string, token: string): Promise<Outcome> {
    return send(`${origin}/v1/inventory/assets?pageSize=1`, { headers: { Authorization: `Bearer ${token}` } });
  }

  async readOne(origin: string, token: string, asset: string): Promise<Outcome> {
    return send(`${origin}/v1/inventory/assets/${asset}`, { headers: { Authorization: `Bearer ${token}` } });
  }

  /** Sends a write that is charged but changes nothing. */
  async write(origin: string, token: string, asset: string): Promise<Outcome> {
    return send(`${origin}/v1/inventory/assets/${asset}`, {
      method: 'PATCH',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
      },
      body: '{}',
    });
  }

  /** Asks every instance at the same moment and returns their responses. */
  async everywhere(origins: readonly string[], token: string): Promise<string[]> {
    return Promise.all(origins.map(async (origin) => (await this.read(origin, token)).word));
  }

  private async issueBy(secret: string, origin: string, from: string | undefined): Promise<Outcome> {
    const form = { grant_type: 'client_credentials', client_id: this.credentials.clientId, client_secret: secret };
    return send(`${origin}/oauth/token`, {
      method: 'POST',
      headers: from === undefined ? {} : { 'X-Forwarded-For': from },
      body: new URLSearchParams(form),
    });
  }
}

async function send(url: string, init: RequestInit): Promise<Outcome> {
  const since = performance.now();
  const milliseconds = (): number => performance.now() - since;
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(RESPONSE_MS) });
    const body = JSON.parse(await response.text()) as { readonly code?: string; readonly access_token?: string };
    const retryAfter = response.headers.get('Retry-After');
    return {
      word: response.ok ? 'ok' : `${body.code}`,
      status: response.status,
      accessToken: body.access_token ?? null,
      retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
      milliseconds: milliseconds(),
    };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = (cause as { code?: string } | undefined)?.code ?? message;
    const nothing = { status: null, accessToken: null, retryAfterSeconds: null };
    return { word: `lost: ${reason}`, ...nothing, milliseconds: milliseconds() };
  }
}

/** Counts outcomes. */
export function counted(outcomes: readonly Pick<Outcome, 'word'>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { word } of outcomes) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
