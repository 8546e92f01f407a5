import { workspaceId } from '#libs/kernel';
import { type CursorKey, newCursorKey, newCursorKeyFile, readCursorKeys } from '../keys/cursor-keys';
import { CursorInvalid, Cursors } from './cursors';

const HERE = workspaceId('00000000-0000-4000-8000-000000000001');
const ELSEWHERE = workspaceId('00000000-0000-4000-8000-000000000002');
const content = { after: '4711', filters: { classification: 'PUBLIC' } };
/** The first key issues cursors; all are accepted. */
const cursorsOf = (...keys: readonly [CursorKey, ...CursorKey[]]) =>
  new Cursors({ current: () => keys[0], find: (kid) => keys.find((key) => key.kid === kid) ?? null });

describe('Cursors', () => {
  it('return what they hold where they were issued', () => {
    const cursors = cursorsOf(newCursorKey(0));
    const cursor = cursors.issue(HERE, 'assets', content);
    expect(cursors.open(HERE, 'assets', cursor)).toMatchObject(content);
    expect(() => cursorsOf(newCursorKey(0)).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('are bound to workspace and resource', () => {
    const cursors = cursorsOf(newCursorKey(0));
    const cursor = cursors.issue(HERE, 'assets', content);
    expect(() => cursors.open(ELSEWHERE, 'assets', cursor)).toThrow(CursorInvalid);
    expect(() => cursors.open(HERE, 'computers', cursor)).toThrow(CursorInvalid);
  });

  it('are accepted under a key from before a rotation, but not under a removed key', () => {
    const old = newCursorKey(0);
    const fresh = newCursorKey(1);
    const cursor = cursorsOf(old).issue(HERE, 'assets', content);
    expect(cursorsOf(fresh, old).open(HERE, 'assets', cursor)).toMatchObject(content);
    expect(() => cursorsOf(fresh).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('stay short for any filters by holding digests of long ones', () => {
    const cursors = cursorsOf(newCursorKey(0));
    const long = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, '\u0001'.repeat(1_000)]));
    const cursor = cursors.issue(HERE, 'assets', { after: '9'.repeat(19), filters: { ...long, short: 'x' } });

    expect(cursor.length).toBeLessThanOrEqual(1024);
    const { filters, digests } = cursors.open(HERE, 'assets', cursor);
    expect(filters).toEqual({ short: 'x' });
    expect(Object.keys(digests ?? {})).toEqual(Object.keys(long));
  });

  it.each(['', 'x', 'AAAA', '💥', 'A'.repeat(10_000), '../../etc/passwd', '%00'])('refuse %j', (cursor) => {
    expect(() => cursorsOf(newCursorKey(0)).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('refuse a key file without a usable key, and reveal nothing of its content', () => {
    expect(readCursorKeys(newCursorKeyFile(0))).toHaveLength(1);
    expect(() => readCursorKeys('{"keys":[{"secret":"hunter2')).toThrow(
      /^CURSOR_KEYS_FILE is not a file of cursor keys\.$/,
    );
    expect(() => readCursorKeys('{"keys":[]}')).toThrow();
    const short = { kid: '00000000', secret: 'AAAA', createdAt: '2026-01-01T00:00:00Z' };
    expect(() => readCursorKeys(JSON.stringify({ keys: [short] }))).toThrow('32 bytes');
  });
});
