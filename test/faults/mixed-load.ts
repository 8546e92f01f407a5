import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Arrangement } from '../support/arrangement';
import { ClientApplication, NO_LIMITS, type Outcome, counted } from './client-application';
import { type FaultSetting } from './fault-setting';
import { type Attempt, type Operation } from './operation-log';
import { type PersistentClient } from './persistent-client';
import { RESPONSE_MS, sized, tell } from './sizes';

const REQUEST_KINDS = ['list', 'get', 'write', 'token'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** The outcome of one request, and the phase in which it ran. */
export interface Heard extends Pick<Outcome, 'word' | 'status' | 'retryAfterSeconds' | 'milliseconds'> {
  readonly kind: RequestKind;
  /** Null when the phase changed during the request. */
  readonly phase: string | null;
}

const PAUSE_MS = sized({ short: 40, long: 15 });
const ASSETS = 10;

/** Sends all kinds of requests at once, each loop as fast as responses come. Repeats writes until they succeed. */
export class MixedLoad {
  private static readonly running = new Set<MixedLoad>();

  /** Call it after each test: the load of a failed test must not continue. */
  static async abandonAll(): Promise<void> {
    const all = [...MixedLoad.running];
    all.forEach((load) => (load.over = load.abandoned = true));
    await Promise.all(all.map((load) => load.work.catch(() => undefined)));
    MixedLoad.running.clear();
  }

  readonly heard: Heard[] = [];
  private phase = '';
  /** Number of earlier phases and outcomes, because the name of a phase may repeat. */
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
  ) {}

  /**
   * `readers` is the number of lists and of reads by id, `writers` the number of updates. One token is requested at a
   * time.
   */
  static async begin(
    setting: FaultSetting,
    arrange: Arrangement,
    { readers = 2, writers = 2 } = {},
  ): Promise<MixedLoad> {
    const application = (): Promise<ClientApplication> => ClientApplication.arrange(setting, arrange, NO_LIMITS);
    for (const key of ['env', 'team']) await arrange.aTagKey(setting.workspace, key);
    const assets = await setting.assets(arrange, ASSETS);
    const load = new MixedLoad(setting, await application(), await application(), assets);
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

  /** Continues a phase until it has the wanted number of outcomes `word` of each kind. */
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

  /** Resolves when every write has succeeded. */
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
        tell(`${phase ?? 'between'}: ${kind}`, { ms: `${at(0.5)}/${at(0.99)}/${at(1)}`, responses: words.join(', ') });
      }
    }
  }

  /** Counts the outcomes of this kind of request, in all phases with this name. */
  words(phase: string | null, kind: RequestKind): Record<string, number> {
    return counted(this.heard.filter((one) => one.phase === phase && one.kind === kind));
  }

  /** In milliseconds. */
  median(phase: string, kind: RequestKind): number {
    const times = this.heard.filter((one) => one.phase === phase && one.kind === kind).map((one) => one.milliseconds);
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  }

  /** Outcomes that no client should see, other than 503 with Retry-After: lost, late or wrong responses. */
  get faults(): string[] {
    return this.heard.flatMap(({ phase, kind, word, status, retryAfterSeconds, milliseconds }) => {
      const what = `${phase ?? 'between'}: ${kind}: ${word}`;
      const isRefusal = status === 503 || word === 'idempotency_in_progress';
      return [
        ...(word === 'ok' || isRefusal ? [] : [what]),
        ...(isRefusal && retryAfterSeconds === null ? [`${what} without Retry-After`] : []),
        ...(milliseconds > RESPONSE_MS ? [`${what} after ${Math.round(milliseconds)} ms`] : []),
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
      await delay(PAUSE_MS);
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
