import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiResponse, ApiClient } from '../support/api-client';
import { type Arrangement } from '../support/arrangement';
import { ClientApplication, NO_LIMITS } from '../faults/client-application';
import { type FaultSetting } from '../faults/fault-setting';
import { type Operation } from '../faults/operation-log';
import { mayBeRepeated } from '../faults/persistent-client';
import { Recorder, now } from './recorder';

/** The judge's work grows with the operations of one subject, so each window has assets and applications of its own. */
interface Window {
  readonly assets: readonly string[];
  readonly holder: ClientApplication;
}

const OPERATIONS_OF_A_WINDOW = 1_000;
const ASSETS = 5;
/** Every tenth writer gives up after its first attempt, so that it never learns whether the update happened. */
const GIVES_UP = 10;
const FAILED_PAUSE_MS = 50;
/** Each unanswered operation doubles the judge's work. */
const UNANSWERED_PAUSE_MS = 1_000;
/** The connection was refused, so nothing was sent. */
const NOT_SENT = 'ECONNREFUSED';

/** Two clients that read and write the same assets, and an application that gets new tokens. */
export class RecordedLoad {
  private sent = 0;
  private lastWrite = -Infinity;

  private constructor(
    private readonly setting: FaultSetting,
    private readonly recorder: Recorder,
    private readonly windows: readonly Window[],
    /** Never writes. */
    private readonly readerToken: string,
    /** What a client that has not written may miss. */
    private readonly staleNanoseconds: number,
    /** Standbys show writes of a client only to itself. */
    private readonly ownWritesNanoseconds: number,
  ) {}

  static async arrange(
    setting: FaultSetting,
    { operations, standby = false }: { readonly operations: number; readonly standby?: boolean },
  ): Promise<RecordedLoad> {
    const arrange: Arrangement = await setting.enterWorkspace();
    const windows: Window[] = [];
    while (windows.length * OPERATIONS_OF_A_WINDOW < operations) {
      const assets = await setting.assets(arrange, ASSETS);
      windows.push({ assets, holder: await ClientApplication.arrange(setting, arrange, NO_LIMITS) });
    }
    const recorder = new Recorder(setting.file('history.ndjson'));
    const readerToken = await arrange.aToken(setting.workspace);
    return new RecordedLoad(setting, recorder, windows, readerToken, standby ? 5e9 : 0, standby ? 10e9 : Infinity);
  }

  get operations(): number {
    return this.recorder.answered;
  }

  get file(): string {
    return this.recorder.file;
  }

  /** Sends all operations, one window after the other. */
  async send(): Promise<void> {
    for (const window of this.windows) {
      const enough = this.operations + OPERATIONS_OF_A_WINDOW;
      const { assets, holder } = window;
      const tokens: string[] = [];
      const loops = [
        ...[0, 1].map(() => (n: number) => this.read(n, assets, this.readerToken)),
        ...[0, 1].map(() => (n: number) => this.read(n, assets, this.setting.token)),
        ...[0, 1].map(() => (n: number) => this.write(n, assets)),
        ...[0, 1].map(() => (n: number) => this.readThenWrite(n, assets)),
        (n: number) => this.writeMany(n, assets),
        (n: number) => this.issue(n, holder, tokens),
        ...[0, 1].map(() => (n: number) => this.use(n, holder, tokens)),
      ];
      await Promise.all(
        loops.map(async (loop) => {
          while (this.operations < enough) if (!(await loop((this.sent += 1)))) await delay(FAILED_PAUSE_MS);
        }),
      );
    }
  }

  /** Returns null without a response. */
  private async read(n: number, assets: readonly string[], token: string): Promise<ApiResponse | null> {
    const asset = this.one(n, assets);
    const since = now();
    const readsOwnWrites = token === this.setting.token && since - this.lastWrite < this.ownWritesNanoseconds;
    const call = readsOwnWrites ? since : since - this.staleNanoseconds;
    const client = new ApiClient(this.origin(n), token);
    const response = await client.get(`/v1/inventory/assets/${asset}`).catch(lost);
    const status = statusOf(response?.status ?? null);
    if (response === null || status === 0) {
      this.recorder.heard({ subject: asset, kind: 'read', value: '', status: 0, call });
      return null;
    }
    const { description } = response.body as { readonly description: string | null };
    const [value, version] = [description ?? '', versionIn(response.headers.get('ETag'))];
    this.recorder.heard({ subject: asset, kind: 'read', value, version, status, call });
    return response;
  }

  private async write(n: number, assets: readonly string[], ifMatch?: string): Promise<boolean> {
    const asset = this.one(n, assets);
    const body = { description: `change ${n}` };
    const path = `/v1/inventory/assets/${asset}`;
    return this.settle(n, { key: randomUUID(), assets: [asset], path, body, ...(ifMatch ? { ifMatch } : {}) });
  }

  private async readThenWrite(n: number, assets: readonly string[]): Promise<boolean> {
    const read = await this.read(n, assets, this.setting.token);
    return read !== null && this.write(n, assets, read.headers.get('ETag') as string);
  }

  private async writeMany(n: number, assets: readonly string[]): Promise<boolean> {
    const ids = assets.filter((_, place) => place % 2 === n % 2);
    const body = { ids, patch: { description: `change ${n}` } };
    return this.settle(n, { key: randomUUID(), assets: ids, path: '/v1/inventory/assets', body });
  }

  /** Repeats the update under its key until it is done or refused. */
  private async settle(n: number, operation: Operation): Promise<boolean> {
    const call = now();
    const client = this.setting.client();
    const attempt =
      n % GIVES_UP === 0 ? await client.attempt(operation, this.origin(n)) : await client.settle(operation, n);
    if (attempt.kind === 'lost' && attempt.reason === NOT_SENT) return false;
    const settled = attempt.kind === 'response' && !mayBeRepeated(attempt) ? attempt : null;
    if (settled?.status === 200) this.lastWrite = Math.max(this.lastWrite, now());
    for (const subject of operation.assets) {
      const version = versionIn(settled?.entityTag ?? null);
      const ifMatch = versionIn(operation.ifMatch ?? null);
      const status = settled?.status ?? 0;
      this.recorder.heard({ subject, kind: 'write', value: `change ${n}`, version, ifMatch, status, call });
    }
    return settled !== null;
  }

  private async issue(n: number, holder: ClientApplication, tokens: string[]): Promise<boolean> {
    const call = now();
    const { accessToken, word, ...issued } = await holder.issue(this.origin(n));
    if (word.endsWith(NOT_SENT)) return false;
    const status = statusOf(issued.status);
    const value = accessToken === null ? 'unknown' : nameOf(accessToken);
    this.recorder.heard({ subject: holder.name, kind: 'issue', value, status, call });
    if (accessToken !== null) tokens.push(accessToken);
    if (status === 0) await delay(UNANSWERED_PAUSE_MS);
    return status !== 0;
  }

  private async use(n: number, holder: ClientApplication, tokens: readonly string[]): Promise<boolean> {
    // The newest token, or the one before.
    const token = tokens.at(-1 - (n % 2));
    if (token === undefined) return false;
    const call = now();
    const { word, ...used } = await holder.read(this.origin(n), token);
    const answered = statusOf(used.status);
    const status = answered === 0 || word === 'ok' || word === 'token_superseded' ? answered : -1;
    this.recorder.heard({ subject: holder.name, kind: 'use', value: nameOf(token), status, call });
    return answered !== 0;
  }

  private one(n: number, assets: readonly string[]): string {
    return assets[Math.floor(n / 2) % assets.length] as string;
  }

  private origin(n: number): string {
    const { origins } = this.setting;
    return origins[n % origins.length] as string;
  }
}

const lost = (): null => null;
/** As recorded: a 503 tells as little as a lost response. */
const statusOf = (status: number | null): number => (status === 503 ? 0 : (status ?? 0));
const nameOf = (token: string): string => token.slice(-16);
const versionIn = (entityTag: string | null): number => Number(entityTag?.replaceAll('"', '') ?? 0);
