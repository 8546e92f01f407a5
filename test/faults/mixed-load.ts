import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Arrangement } from '../support/arrangement';
import { ClientApplication, NO_LIMITS, type Outcome, counted } from './client-application';
import { type FaultSetting } from './fault-setting';
import { type Attempt, type Operation } from './operation-log';
import { type PersistentClient } from './persistent-client';
import { tell } from './sizes';

export const REQUEST_KINDS = ['list', 'get', 'write', 'token'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** What one request came to, and while what was going on. */
export interface Heard extends Pick<Outcome, 'word' | 'status' | 'retryAfterSeconds' | 'milliseconds'> {
  readonly kind: RequestKind;
  /** Null when it was under way while one phase became the next. */
  readonly phase: string | null;
}

/** Nothing waits longer than five seconds for a dependency (reliability); a busy machine may add something. */
const ANSWER_MS = 5_000 + 1_000;
const PAUSE_MS = 15;
const ASSETS = 10;

/** Everything that clients do, all at once and as steady as the answers come. Writes are repeated until they are done. */
export class MixedLoad {
  private static readonly running = new Set<MixedLoad>();

  /** For the end of a test: the load of one that failed must not go on. */
  static async abandonAll(): Promise<void> {
    const all = [...MixedLoad.running];
    all.forEach((load) => (load.over = load.abandoned = true));
    await Promise.all(all.map((load) => load.work.catch(() => undefined)));
    MixedLoad.running.clear();
  }

  readonly heard: Heard[] = [];
  private phase = '';
  /** How many phases there were before this one, and what had been heard by then: a phase of the same name may come again. */
  private turn = 0;
  private heardBefore = 0;
  private over = false;
  private abandoned = false;
  private sent = 0;
  private work: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly setting: FaultSetting,
    private readonly reader: ClientApplication,
    private readonly holder: ClientApplication,
    private readonly assets: readonly string[],
    private readonly pauseMs: number,
  ) {}

  /** `readers` lists and as many reads by id, `writers` updates and one request for a token at a time. */
  static async begin(
    setting: FaultSetting,
    arrange: Arrangement,
    { readers = 2, writers = 2, pauseMs = PAUSE_MS } = {},
  ): Promise<MixedLoad> {
    const application = (): Promise<ClientApplication> => ClientApplication.arrange(setting, arrange, NO_LIMITS);
    for (const key of ['env', 'team']) await arrange.aTagKey(setting.workspace, key);
    const assets = await setting.assets(arrange, ASSETS);
    const load = new MixedLoad(setting, await application(), await application(), assets, pauseMs);
    const token = await load.reader.token(load.origin(0));
    MixedLoad.running.add(load);
    const times = (count: number, loop: () => Promise<void>) => Array.from({ length: count }, loop);
    load.work = Promise.all([
      ...times(readers, () => load.repeat((origin) => load.note('list', load.reader.read(origin, token)))),
      ...times(readers, () =>
        load.repeat((origin, n) => load.note('get', load.reader.readOne(origin, token, load.asset(n)))),
      ),
      ...times(writers, () => load.repeat((_origin, n) => load.write(n))),
      load.repeat((origin) => load.note('token', load.holder.issue(origin))),
    ]);
    return load;
  }

  async during(phase: string, milliseconds: number): Promise<void> {
    this.enter(phase);
    await delay(milliseconds);
  }

  /** Lets a phase go on until so many requests of each kind came to `word` since it began. */
  async until(phase: string, word: string, wanted: Readonly<Partial<Record<RequestKind, number>>>): Promise<void> {
    this.enter(phase);
    const since = (kind: RequestKind) =>
      counted(this.heard.slice(this.heardBefore).filter((one) => one.phase === phase && one.kind === kind));
    const isMissing = (kind: RequestKind): boolean => (since(kind)[word] ?? 0) < (wanted[kind] ?? 0);
    for (const deadline = Date.now() + 30_000; REQUEST_KINDS.some(isMissing); await delay(20)) {
      const words = REQUEST_KINDS.map((kind) => `${kind} ${JSON.stringify(since(kind))}`);
      if (Date.now() > deadline) throw new Error(`${phase}: not enough ${word}: ${words.join(', ')}`);
    }
  }

  /** Resolves when every write has been done. */
  async end(): Promise<void> {
    this.over = true;
    await this.work;
    MixedLoad.running.delete(this);
    for (const phase of new Set(this.heard.map((one) => one.phase))) {
      for (const kind of REQUEST_KINDS) {
        const times = this.heard
          .filter((one) => one.phase === phase && one.kind === kind)
          .map((one) => one.milliseconds);
        times.sort((a, b) => a - b);
        const at = (share: number): number => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
        const words = Object.entries(this.words(phase, kind)).map(([word, count]) => `${word} ${count}`);
        tell(`${phase ?? 'between'}: ${kind}`, { ms: `${at(0.5)}/${at(0.99)}/${at(1)}`, answers: words.join(', ') });
      }
    }
  }

  /** How many requests of this kind came to what, in all phases of this name. */
  words(phase: string | null, kind: RequestKind): Record<string, number> {
    return counted(this.heard.filter((one) => one.phase === phase && one.kind === kind));
  }

  /** Milliseconds. */
  median(phase: string, kind: RequestKind): number {
    const times = this.heard.filter((one) => one.phase === phase && one.kind === kind).map((one) => one.milliseconds);
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  }

  /** Whatever no client should hear at any time, but for 503 with its Retry-After: silence, other errors, late answers. */
  get faults(): string[] {
    return this.heard.flatMap(({ phase, kind, word, status, retryAfterSeconds, milliseconds }) => {
      const what = `${phase ?? 'between'}: ${kind}: ${word}`;
      const isRefusal = status === 503 || word === 'idempotency_in_progress';
      return [
        ...(word === 'ok' || isRefusal ? [] : [what]),
        ...(isRefusal && retryAfterSeconds === null ? [`${what} without Retry-After`] : []),
        ...(milliseconds > ANSWER_MS ? [`${what} after ${Math.round(milliseconds)} ms`] : []),
      ];
    });
  }

  private enter(phase: string): void {
    if (phase === this.phase) return;
    this.phase = phase;
    this.turn += 1;
    this.heardBefore = this.heard.length;
  }

  private async repeat(request: (origin: string, n: number) => Promise<unknown>): Promise<void> {
    while (!this.over) {
      const n = (this.sent += 1);
      await request(this.origin(n), n);
      await delay(this.pauseMs);
    }
  }

  private async write(n: number): Promise<void> {
    const client: PersistentClient = this.setting.client();
    const operation = this.operation(n);
    this.setting.log.sent(operation);
    for (let place = n; ; place += 1) {
      const attempt = client.attempt(operation, this.origin(place)).then(outcomeOf);
      if ((await this.note('write', attempt)).word === 'ok' || this.abandoned) return;
      await delay(50 + Math.random() * 50);
    }
  }

  private operation(n: number): Operation {
    const key = randomUUID();
    if (n % 10 === 0) {
      const ids = this.assets.filter((_, place) => place % 2 === n % 2);
      return { key, assets: ids, path: '/v1/inventory/assets', body: { ids, patch: { description: `bulk ${n}` } } };
    }
    const asset = this.asset(n);
    const body = { description: `change ${n}`, tags: [{ key: n % 2 === 0 ? 'env' : 'team' }] };
    return { key, assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
  }

  private async note(kind: RequestKind, request: Promise<Outcome>): Promise<Outcome> {
    const { phase, turn } = this;
    const outcome = await request;
    const { word, status, retryAfterSeconds, milliseconds } = outcome;
    const during = turn === this.turn ? phase : null;
    this.heard.push({ kind, phase: during, word, status, retryAfterSeconds, milliseconds });
    return outcome;
  }

  private asset(n: number): string {
    return this.assets[n % ASSETS] as string;
  }

  private origin(n: number): string {
    return this.setting.origins[n % this.setting.origins.length] as string;
  }
}

function outcomeOf(attempt: Attempt): Outcome {
  const { milliseconds } = attempt;
  if (attempt.kind === 'lost') {
    return { word: `lost: ${attempt.reason}`, status: null, retryAfterSeconds: null, accessToken: null, milliseconds };
  }
  const { status, code, retryAfter } = attempt;
  const retryAfterSeconds = retryAfter === null ? null : Number(retryAfter);
  return { word: code ?? 'ok', status, retryAfterSeconds, accessToken: null, milliseconds };
}
