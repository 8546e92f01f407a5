import type { InputLine } from '../domain/import-files.port';
import type { ImportSession, MergeOutcome } from '../domain/import-store.port';
import { ImportRun } from './import-run';

const NOTHING: MergeOutcome = { created: 0, updated: 0, unchanged: 0, refused: [], deferred: [], warned: [] };

describe('An import', () => {
  it('counts the warnings of all records that wait for their owners, and keeps 1,000 different ones', async () => {
    const places: number[] = [];
    let waiting: ReadonlyMap<number, string> = new Map();
    const session: Partial<ImportSession> = {
      warningOf: () => null,
      add: ({ place }) => void places.push(place),
      merge: () => Promise.resolve({ ...NOTHING, deferred: places.splice(0) }),
      count: () => undefined,
      async *rekey() {},
      async *mergeDeferred(which) {
        if (which === 'employees') return;
        waiting = (run as unknown as { waiting: ReadonlyMap<number, string> }).waiting;
        await Promise.resolve();
        yield { ...NOTHING, warned: [{ place: 1, reason: 'No owner.' }] };
      },
    };
    const options = { source: 'mdm', files: ['a'], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    const run = new ImportRun(session as ImportSession, options, () => undefined);
    const lines = Array.from({ length: 1_050 }, (_, index): InputLine => {
      const other = Array.from({ length: index }, () => ({ key: 'other' }));
      const tags = [{ key: 'env', value: 'a' }, ...other, { key: 'env', value: 'b' }];
      const value = { categoryKey: 'COMPUTER', externalId: `c-${index}`, name: 'x', ownerEmail: 'a@b', tags };
      return { fileIndex: 0, line: index + 1, value };
    });

    const { warned, warnings } = await run.take(
      (async function* () {
        await Promise.resolve();
        yield lines;
      })(),
    );

    expect([waiting.size, warned, warnings.length]).toEqual([1_049, 1_050, 1_000]);
    expect(new Set(waiting.values()).size).toBeLessThanOrEqual(1_001);
  });

  it.each<[string, (index: number) => object]>([
    ['owners', () => ({ owner: 'x'.repeat(900_000) })],
    ['tags', () => ({ tags: [{ key: 'env', value: 'x' }, ...manyTags()] })],
    ['serial numbers of bad lines', () => ({ managed: 'maybe', serialNumber: 'x'.repeat(900_000) })],
  ])('ends a batch early whose lines have long %s', async (_, member) => {
    const batches: number[] = [];
    let added = 0;
    const session: Partial<ImportSession> = {
      warningOf: () => null,
      add: () => void (added += 1),
      merge: (__, refused) => {
        batches.push(added + refused.length);
        added = 0;
        return Promise.resolve(NOTHING);
      },
      count: () => undefined,
      async *rekey() {},
      async *mergeDeferred() {},
    };
    const options = { source: 'mdm', files: ['a'], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    const lines = Array.from({ length: 22 }, (__, index): InputLine => {
      const value = { categoryKey: 'COMPUTER', externalId: `c-${index}`, name: 'x', ...member(index) };
      return { fileIndex: 0, line: index + 1, value };
    });

    await new ImportRun(session as ImportSession, options, () => undefined).take(
      (async function* () {
        await Promise.resolve();
        yield lines;
      })(),
    );

    expect(batches.reduce((sum, size) => sum + size)).toBe(22);
    expect(Math.max(...batches)).toBeLessThanOrEqual(20);
  });

  it('lets Postgres keep no header with the rows of a CSV file, and tells it with a row that Postgres refused', async () => {
    const keptBy: (string | null)[] = [];
    const session: Partial<ImportSession> = {
      warningOf: () => null,
      add: ({ kept }) => void keptBy.push(kept),
      merge: () => Promise.resolve({ ...NOTHING, refused: [0, 1].map((index) => refusalOf(index)) }),
      count: () => undefined,
      async *rekey() {},
      async *refuseToRekey() {},
      async *mergeDeferred() {},
    };
    const refusalOf = (fileIndex: number) => ({
      place: fileIndex * 1e10 + 2,
      reason: 'x',
      kept: keptBy[fileIndex] ?? null,
    });
    const told: unknown[] = [];
    const options = { source: 'hr', files: ['a', 'b'], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    const lines = [0, 1].map((fileIndex): InputLine => {
      const value = { categoryKey: 'CUSTOM', externalId: `c-${fileIndex}`, name: 'x' };
      const header = `${'long'.repeat(1_000)}${fileIndex}`;
      return { fileIndex, line: 2, value, header, bytes: Buffer.from('CUSTOM'), again: fileIndex === 1 };
    });

    await new ImportRun(
      session as ImportSession,
      { ...options, onBadLine: ({ header, text }) => told.push([header, text]) },
      () => undefined,
    ).take(
      (async function* () {
        await Promise.resolve();
        yield lines;
      })(),
    );

    // A row of a file of bad lines has a header of its own.
    expect(keptBy.map((kept) => kept?.includes('long'))).toEqual([false, true]);
    expect(told).toEqual(lines.map(({ header }) => [header, 'CUSTOM']));
  });

  it.each([
    ['fails', 'FAILED'],
    ['is interrupted', 'INTERRUPTED'],
  ])('that %s between two steps of hiding has counted the first', async (_, outcome) => {
    let hidden = 0;
    const session: Partial<ImportSession> = {
      visibleBefore: 2,
      warningOf: () => null,
      add: () => undefined,
      merge: () => Promise.resolve(NOTHING),
      count: (counts) => void (hidden = counts.hidden),
      async *rekey() {},
      async *mergeDeferred() {},
      async *countMissing() {
        yield await Promise.resolve(2);
      },
      async *hideMissing() {
        yield await Promise.resolve(1);
        if (outcome === 'FAILED') throw new Error('the disk is full');
        yield 1;
      },
    };
    const options = { source: 'mdm', files: ['a'], dryRun: false, missing: 'hide', createTagKeys: null } as const;
    const run = new ImportRun(session as ImportSession, options, () => {
      if (outcome === 'INTERRUPTED' && hidden > 0) throw new Error('Ctrl-C');
    });
    const lines = async function* (): AsyncGenerator<InputLine[]> {
      const value = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Printer' };
      yield await Promise.resolve([{ fileIndex: 0, line: 1, value }]);
    };

    await expect(run.take(lines())).rejects.toThrow(outcome === 'FAILED' ? 'the disk is full' : 'Ctrl-C');

    expect(run.outcomeOfFailure()).toBe(outcome);
    expect([hidden, run.result().counts.hidden]).toEqual([1, 1]);
  });
});

const manyTags = () => Array.from({ length: 900 }, (_, index) => ({ key: `${index}${'k'.repeat(990)}`, value: null }));
