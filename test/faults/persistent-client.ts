import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, type Operation, type OperationLog } from './operation-log';

type Responded = Extract<Attempt, { kind: 'response' }>;

/** The client's timeout is longer than any wait of the API. */
const RESPONSE_MS = 10_000;
const PATIENCE_MS = 60_000;

/** A client as the documentation recommends: it repeats the same request with the same key until it has a response. */
export class PersistentClient {
  constructor(
    private readonly token: string,
    private readonly log: OperationLog,
    private readonly origins: readonly string[],
    /** Throws when further waiting is pointless. */
    private readonly assertServed: () => void,
  ) {}

  /**
   * Returns the first response that is neither 503 nor 409 `idempotency_in_progress`. Starts with the given instance
   * and moves to the next after each failed attempt.
   * @throws after a minute
   */
  async settle(operation: Operation, place: number): Promise<Responded> {
    this.log.sent(operation);
    for (const [deadline, repeats] = [Date.now() + PATIENCE_MS, { n: 0 }]; ; repeats.n += 1) {
      const origin = this.origins[(place + repeats.n) % this.origins.length] as string;
      const attempt = await this.attempt(operation, origin);
      if (attempt.kind === 'response' && !mayBeRepeated(attempt)) return attempt;
      this.assertServed();
      if (Date.now() > deadline) throw new Error(`no end of ${operation.key}: ${JSON.stringify(attempt)}`);
      await delay(30 + Math.random() * 100);
    }
  }

  /** Sends one attempt to one instance and records the result. */
  async attempt(operation: Operation, origin: string): Promise<Attempt> {
    const attempt = await this.send(operation, origin);
    this.log.heard(operation.key, attempt);
    return attempt;
  }

  private async send({ key, path, body, ifMatch }: Operation, origin: string): Promise<Attempt> {
    const since = performance.now();
    const milliseconds = () => Math.round(performance.now() - since);
    try {
      const response = await fetch(`${origin}${path}`, {
        method: 'PATCH',
        headers: {
          Authorization: `Bearer ${this.token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
          ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(RESPONSE_MS),
      });
      const text = await response.text();
      return {
        kind: 'response',
        status: response.status,
        code: response.ok ? null : codeOf(text),
        retryAfter: response.headers.get('Retry-After'),
        replayed: response.headers.get('Idempotent-Replayed') === 'true',
        entityTag: response.headers.get('ETag'),
        text,
        milliseconds: milliseconds(),
      };
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = (cause as { code?: string } | undefined)?.code ?? message;
      return { kind: 'lost', reason, milliseconds: milliseconds() };
    }
  }
}

/** Such a response leaves open whether the update happens. */
export function mayBeRepeated({ status, code }: Responded): boolean {
  return status === 503 || code === 'idempotency_in_progress';
}

function codeOf(text: string): string {
  return String((JSON.parse(text) as { code?: unknown }).code);
}
