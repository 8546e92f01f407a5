import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { makeFifo } from '../../../../test/support/fifo';
import { listCursorKeys, removeCursorKey, rotateCursorKey } from './cursor-key-file';
import { CursorKeys, newCursorKeyFile } from './cursor-keys';

describe('CursorKeys', () => {
  let directory: string;
  let file: string;
  let clock: FakeClock;
  let first: string;
  let instance: CursorKeys;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    file = join(directory, 'cursor.json');
    clock = new FakeClock();
    writeFileSync(file, newCursorKeyFile(clock.now()), { mode: 0o600 });
    instance = await CursorKeys.open(file, clock);
    first = instance.current().kid;
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('accepts a new key at once, and uses it when every instance must know it', async () => {
    clock.advance(3_600_000);
    const { kid } = await rotateCursorKey(file, clock);
    expect(instance.find(kid)).toBeNull();
    expect(await instance.reread()).toEqual({ kids: [kid, first], faults: [] });
    clock.advance(59_999);
    expect(instance.find(kid)).not.toBeNull();
    expect(instance.current().kid).toBe(first);
    clock.advance(1);
    expect(instance.current().kid).toBe(kid);
    expect(instance.find(first)).not.toBeNull();
  });

  it('uses a key only after other instances can have read it, even if a slow clock made it', async () => {
    clock.advance(3_600_000);
    const { kid } = await rotateCursorKey(file, new FakeClock(clock.now() - 600_000));
    await instance.reread();
    clock.advance(9_999);
    await instance.reread();
    expect(instance.current().kid).toBe(first);
    clock.advance(1);
    expect(instance.current().kid).toBe(kid);
    expect((await CursorKeys.open(file, clock)).current().kid).toBe(kid);
  });

  it('drops a removed key and continues with the next at once', async () => {
    const { kid } = await rotateCursorKey(file, clock);
    expect(await removeCursorKey(file, first)).toBe(true);
    expect(await instance.reread()).toEqual({ kids: [kid], faults: [] });
    expect([instance.find(first), instance.current().kid]).toEqual([null, kid]);
    expect(await removeCursorKey(file, first)).toBe(false);
    await expect(removeCursorKey(file, kid)).rejects.toThrow(/last cursor key/);
  });

  it('loses none of many concurrently made keys, and keeps their permissions', async () => {
    chmodSync(file, 0o640);
    const made = await Promise.all(Array.from({ length: 10 }, () => rotateCursorKey(file, clock)));
    const kids = listCursorKeys(file).map(({ kid }) => kid);
    expect([...kids].sort()).toEqual([first, ...made.map(({ kid }) => kid)].sort());
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory)).toEqual(['.keys-lock-10', 'cursor.json']);
  });

  it('ignores the leftovers of a crash: a draft and a held lock', async () => {
    writeFileSync(join(directory, '.keys-draft'), '{"keys":[{"kid"', { mode: 0o400 });
    writeFileSync(join(directory, '.keys-lock-1'), 'held\n');
    const { kid } = await rotateCursorKey(file, clock);
    expect(await instance.reread()).toEqual({ kids: [kid, first], faults: [] });
    expect(readdirSync(directory)).toEqual(['.keys-lock-2', 'cursor.json']);
  });

  it.each([
    ['half written', () => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 60)), /not a file of cursor keys/],
    ['empty', () => writeFileSync(file, ''), /not a file of cursor keys/],
    ['away', () => rmSync(file), /does not exist; admin keys init makes one/],
    ['a pipe', () => (rmSync(file), makeFifo(file)), /cannot be read \(not a regular file\)/],
    ['unreadable', () => (rmSync(file), mkdirSync(file)), /cannot be read \(EISDIR\)/],
  ])('keeps its keys while the file is %s, while a starting process exits', async (_how, spoil, why) => {
    spoil();
    const { kids, faults } = await instance.reread();
    expect([kids, faults]).toEqual([[first], [expect.stringMatching(why)]]);
    expect(instance.current().kid).toBe(first);
    await expect(CursorKeys.open(file, clock)).rejects.toThrow(why);
  });
});
