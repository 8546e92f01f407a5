import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { makeFifo } from '../../../../test/support/fifo';
import { putKey } from '../../../../test/support/put-key';
import { CursorKeys, cursorKeyId } from './cursor-keys';
import { removeFromCursorKeysFile } from './cursor-keys-file';
import { listKeys, removeKey, rotateKey } from './key-files';
import { CURSOR_KEYS } from './key-kinds';

const HOUR = 3_600_000;

describe('CursorKeys', () => {
  let directory: string;
  let clock: FakeClock;
  const fileOf1_0 = () => join(directory, 'cursor.json');
  const path = (kid: string) => join(directory, `${kid}.cursor.key`);
  const open = () => new CursorKeys(directory, fileOf1_0(), clock).open();
  /** Writes CURSOR_KEYS_FILE as release 1.0.0 did. */
  const putFileOf1_0 = (...kids: readonly string[]) => {
    const createdAt = new Date(clock.now() - HOUR).toISOString();
    const keys = kids.map((kid) => ({ kid, secret: randomBytes(32).toString('base64'), createdAt }));
    writeFileSync(fileOf1_0(), JSON.stringify({ keys }, null, 2), { mode: 0o640 });
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    clock = new FakeClock(Date.UTC(2026, 0, 1));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('accept a new key at once, and use it when every instance must know it', async () => {
    const first = await putKey(CURSOR_KEYS, directory, clock.now() - HOUR);
    const instance = await open();
    const { kid } = await rotateKey(CURSOR_KEYS, directory, clock);
    expect(instance.find(cursorKeyId(kid))).toBeNull();
    expect(await instance.reread()).toEqual({ kids: [kid, first], faults: [] });
    clock.advance(59_999);
    expect(instance.find(cursorKeyId(kid))).not.toBeNull();
    expect(instance.current().id).toBe(cursorKeyId(first));
    clock.advance(1);
    expect(instance.current().id).toBe(cursorKeyId(kid));
    expect(instance.find(cursorKeyId(first))).not.toBeNull();
  });

  it('lose none of many concurrently made keys, which take owner and mode of any key in the directory', async () => {
    const first = await putKey(CURSOR_KEYS, directory, clock.now());
    chmodSync(path(first), 0o640);
    const made = await Promise.all(Array.from({ length: 10 }, () => rotateKey(CURSOR_KEYS, directory, clock)));
    const kids = (await listKeys(CURSOR_KEYS, directory)).map(({ kid }) => kid);
    expect([...kids].sort()).toEqual([first, ...made.map(({ kid }) => kid)].sort());
    for (const kid of kids) expect(statSync(path(kid)).mode & 0o777).toBe(0o640);
  });

  it.each([
    ['half a key', () => writeFileSync(path('x'), randomBytes(16).toString('base64'))],
    ['no base64', () => writeFileSync(path('x'), 'hunter2'.repeat(6))],
  ])('that are %s stop a starting process, which quotes nothing of them', async (_what, spoil) => {
    await putKey(CURSOR_KEYS, directory, clock.now());
    spoil();
    await expect(open()).rejects.toThrow(
      `SIGNING_KEYS_DIR: x.cursor.key is no cursor key: 32 bytes in base64. SIGNING_KEYS_DIR names ${directory}.`,
    );
  });

  describe('of release 1.0.0', () => {
    const [OLD, OLDER] = ['453ec5f1', '00c0ffee'] as const;

    it('seal cursors until a minute after a key of this release was made, and stay accepted', async () => {
      putFileOf1_0(OLD);
      const instance = await open();
      const { secret } = instance.current();
      expect(instance.current().id).toBe(OLD);
      const kid = await putKey(CURSOR_KEYS, directory, clock.now());
      expect(await instance.reread()).toEqual({ kids: [kid, OLD], faults: [] });
      expect(instance.current().id).toBe(OLD);
      clock.advance(60_000);
      expect(instance.current().id).toBe(cursorKeyId(kid));
      expect(instance.find(OLD)?.secret).toEqual(secret);
    });

    it('stay accepted from files of their own names', async () => {
      putFileOf1_0(OLD);
      const { secret } = (await open()).current();
      rmSync(fileOf1_0());
      writeFileSync(path(OLD), secret.toString('base64'));
      expect((await open()).find(OLD)?.secret).toEqual(secret);
    });

    it('are removed one by one, and the file with the last', async () => {
      const kid = await putKey(CURSOR_KEYS, directory, clock.now());
      putFileOf1_0(OLD, OLDER);
      const instance = await open();
      expect(await removeFromCursorKeysFile(fileOf1_0(), OLD, directory)).toBe(true);
      expect([(await instance.reread()).kids, instance.find(OLD)]).toEqual([[kid, OLDER], null]);
      expect(statSync(fileOf1_0()).mode & 0o777).toBe(0o640);
      expect(await removeFromCursorKeysFile(fileOf1_0(), OLD, directory)).toBe(false);
      expect(await removeFromCursorKeysFile(fileOf1_0(), OLDER, directory)).toBe(true);
      expect(existsSync(fileOf1_0())).toBe(false);
      expect(await instance.reread()).toEqual({ kids: [kid], faults: [] });
      await expect(removeKey(CURSOR_KEYS, directory, kid)).rejects.toThrow(/last cursor key that can be used/);
    });

    it('stay in their file while no other key can be used', async () => {
      putFileOf1_0(OLD);
      writeFileSync(path('x'), 'no key');
      const removal = removeFromCursorKeysFile(fileOf1_0(), OLD, directory);
      await expect(removal).rejects.toThrow(/last cursor key that can be used/);
      expect(existsSync(fileOf1_0())).toBe(true);
    });

    it.each([
      [
        'half written',
        () => writeFileSync(fileOf1_0(), readFileSync(fileOf1_0(), 'utf8').slice(0, 60)),
        /not a file of cursor/,
      ],
      ['empty', () => writeFileSync(fileOf1_0(), ''), /is not a file of cursor keys/],
      ['a pipe', () => (rmSync(fileOf1_0()), makeFifo(fileOf1_0())), /cannot be read \(not a regular file\)/],
      ['unreadable', () => (rmSync(fileOf1_0()), mkdirSync(fileOf1_0())), /cannot be read \(EISDIR\)/],
      [
        'of a short key',
        () =>
          writeFileSync(
            fileOf1_0(),
            '{"keys":[{"kid":"00000000","secret":"AAAA","createdAt":"2026-01-01T00:00:00Z"}]}',
          ),
        /32 bytes/,
      ],
    ])('stay in force while their file is %s, while a starting process exits', async (_how, spoil, why) => {
      putFileOf1_0(OLD);
      const instance = await open();
      spoil();
      const { kids, faults } = await instance.reread();
      expect([kids, faults]).toEqual([[OLD], [expect.stringMatching(why)]]);
      expect(instance.current().id).toBe(OLD);
      await expect(open()).rejects.toThrow(why);
    });
  });

  it('that are nowhere stop a starting process, which names the command', async () => {
    await expect(open()).rejects.toThrow(
      `SIGNING_KEYS_DIR holds no key (*.cursor.key); admin keys init makes one. SIGNING_KEYS_DIR names ${directory}.`,
    );
  });
});
