import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, HistoryModel } from './history-model';

/** What a stream or a read by id shows of an asset or computer. */
export type Shown = Readonly<Record<string, unknown>>;

const CHECKS = ['antivirusInstalled', 'diskEncryptionEnabled', 'passwordManagerInstalled', 'screenLockEnabled'];
const SUMMARY_CHECKS = ['ANTIVIRUS', 'DISK_ENCRYPTION', 'PASSWORD_MANAGER', 'SCREEN_LOCK'];
const CATEGORIES = ['CLOUD', 'COMPUTER', 'CUSTOM', 'INFORMATION', 'EMPLOYEE'];

/** Reads until an instance responds, whatever is killed meanwhile. */
export class HistoryReader {
  private turn = 0;

  constructor(
    private readonly origins: () => readonly string[],
    private readonly token: string,
  ) {}

  async get(path: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
    const { status, text } = await this.read(path, 'application/json', (read) => read.endsWith('}'));
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  }

  /** The items of a whole stream. */
  async stream(path: string, item: string): Promise<Shown[]> {
    const { text } = await this.read(path, 'application/x-ndjson', (read) => read.includes('\n{"type":"end"'));
    const lines = text.trim().split('\n');
    const read = lines.map((line) => JSON.parse(line) as Readonly<Record<string, Shown | undefined>>);
    return read.flatMap((line): readonly Shown[] => (line[item] ? [line[item]] : []));
  }

  private async read(path: string, accept: string, isWhole: (text: string) => boolean) {
    for (const deadline = Date.now() + 60_000; ; await delay(100)) {
      const origins = this.origins();
      const origin = origins[(this.turn += 1) % origins.length] as string;
      try {
        const headers = { Authorization: `Bearer ${this.token}`, Accept: accept };
        const response = await fetch(`${origin}${path}`, { headers, signal: AbortSignal.timeout(10_000) });
        const text = await response.text();
        const { status } = response;
        if (status === 404 || (status === 200 && isWhole(text))) return { status, text };
        // A stream that was cut may still have its place.
        if (status !== 200 && status !== 503 && status !== 409) throw new Unexpected(`${path}: ${status} ${text}`);
        if (Date.now() > deadline) throw new Unexpected(`${path}: ${status} ${text}`);
      } catch (error) {
        if (error instanceof Unexpected || Date.now() > deadline) throw error;
      }
    }
  }
}

class Unexpected extends Error {}

/** What the model says of an asset, in the form in which {@link seen} shows what was read. */
function expected({ state }: Entry, at: ReadonlyMap<string, Entry>, item: 'asset' | 'computer'): string {
  const owner = state.ownerId === null ? undefined : at.get(state.ownerId)?.state;
  return JSON.stringify({
    id: state.id,
    name: state.name,
    ownerId: state.ownerId,
    owner: owner ? [owner.name, owner.email] : null,
    tags: [...state.tags].sort(),
    ...(item === 'asset'
      ? [state.categoryKey, state.email, state.description, state.classification]
      : [state.isMonitored, ...state.checks]),
  });
}

function seen(item: Shown): string {
  const owner = item['owner'] as Shown | null;
  const compliance = item['compliance'] as Shown | undefined;
  return JSON.stringify({
    id: item['id'],
    name: item['name'],
    ownerId: item['ownerId'],
    owner: owner ? [owner['name'], owner['email']] : null,
    tags: (item['tags'] as { readonly key: string }[]).map(({ key }) => key).sort(),
    ...(compliance
      ? [item['isMonitored'], ...CHECKS.map((check) => compliance[check])]
      : [item['categoryKey'], item['email'], item['description'], item['classification']]),
  });
}

/** Differences between what was read of an instant and the model. */
export function faultsOf(
  model: HistoryModel,
  instant: number,
  read: readonly Shown[],
  item: 'asset' | 'computer',
  leftOut: ReadonlySet<string> = new Set(),
): string[] {
  const at = model.at(instant);
  const wanted = new Map(
    [...at].filter(([id, { state }]) => !leftOut.has(id) && (item === 'asset' || state.categoryKey === 'COMPUTER')),
  );
  const time = new Date(instant).toISOString();
  const faults: string[] = [];
  for (const shown of read) {
    const id = shown['id'] as string;
    const entry = wanted.get(id);
    wanted.delete(id);
    if (leftOut.has(id) || leftOut.has(shown['ownerId'] as string)) continue;
    if (!entry) faults.push(`${time}: shows ${id}, which was not there`);
    else faults.push(...stateFaults(time, entry, at, shown, item));
  }
  return [...faults, ...[...wanted.keys()].map((id) => `${time}: does not show ${id}`)];
}

export function stateFaults(
  time: string,
  entry: Entry,
  at: ReadonlyMap<string, Entry>,
  shown: Shown,
  item: 'asset' | 'computer',
): string[] {
  const [found, right] = [seen(shown), expected(entry, at, item)];
  const checked = shown['lastCheckedAt'];
  return [
    ...(found === right ? [] : [`${time}: ${found} in place of ${right}`]),
    ...(typeof checked === 'string' && checked > time ? [`${time}: ${entry.state.id} was checked later`] : []),
    ...(item === 'asset' ? responseFaults(time, entry, shown) : []),
  ];
}

/** A state that an update made is its response, to the letter. */
function responseFaults(time: string, { state: { response, id } }: Entry, shown: Shown): string[] {
  if (response === null) return [];
  const told = Object.entries(JSON.parse(response) as Shown).filter(([name]) => name !== 'lastCheckedAt');
  const isSame = told.every(([name, value]) => JSON.stringify(value) === JSON.stringify(shown[name]));
  return isSame ? [] : [`${time}: ${id} is ${JSON.stringify(shown)}, but the client was told ${response}`];
}

/** The counts of assets and computers at the instant, as a day of the summaries shows them. */
export function countsOf(
  model: HistoryModel,
  instant: number,
): { readonly assets: unknown; readonly computers: unknown } {
  const states = [...model.at(instant).values()].map(({ state }) => state);
  const count = <Value>(values: readonly Value[], is: (value: Value) => boolean): number => values.filter(is).length;
  const computers = states.filter(({ categoryKey }) => categoryKey === 'COMPUTER');
  return {
    assets: CATEGORIES.map((categoryKey) => {
      const ofCategory = states.filter((state) => state.categoryKey === categoryKey);
      return {
        categoryKey,
        total: ofCategory.length,
        withOwner: count(ofCategory, ({ ownerId }) => ownerId !== null),
        withDescription: count(ofCategory, ({ description }) => description !== null),
        classification: Object.fromEntries(
          ['CONFIDENTIAL', 'INTERNAL', 'PUBLIC', 'UNKNOWN'].map((name) => [
            name,
            count(ofCategory, ({ classification }) => classification === name),
          ]),
        ),
      };
    }),
    computers: {
      total: computers.length,
      monitored: count(computers, ({ isMonitored }) => isMonitored),
      checks: Object.fromEntries(
        SUMMARY_CHECKS.map((name, place) => [
          name,
          {
            passing: count(computers, ({ checks }) => checks[place] === true),
            failing: count(computers, ({ checks }) => checks[place] === false),
            unknown: count(computers, ({ checks }) => checks[place] === null),
          },
        ]),
      ),
    },
  };
}
