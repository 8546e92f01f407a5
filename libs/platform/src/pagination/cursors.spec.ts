import { randomBytes, randomUUID } from 'node:crypto';
import { workspaceId } from '#libs/kernel';
import type { CursorKey } from '../keys/cursor-keys';
import { CursorInvalid, Cursors, digestOf } from './cursors';

const HERE = workspaceId('00000000-0000-4000-8000-000000000001');
const ELSEWHERE = workspaceId('00000000-0000-4000-8000-000000000002');
const content = { after: '4711', filters: { classification: 'PUBLIC' } };
/** The first key issues cursors; all are accepted. */
const cursorsOf = (...keys: readonly [CursorKey, ...CursorKey[]]) =>
  new Cursors({ current: () => keys[0], find: (id) => keys.find((key) => key.id === id) ?? null });
/** A text that does not pack. */
const noise = (): string => randomBytes(750).toString('base64');
const newKey = (): CursorKey => ({ id: randomBytes(4).toString('hex'), secret: randomBytes(32) });

describe('Cursors', () => {
  it('return what they hold where they were issued', () => {
    const cursors = cursorsOf(newKey());
    const cursor = cursors.issue(HERE, 'assets', content);
    expect(cursors.open(HERE, 'assets', cursor)).toMatchObject(content);
    expect(() => cursorsOf(newKey()).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('are bound to workspace and resource', () => {
    const cursors = cursorsOf(newKey());
    const cursor = cursors.issue(HERE, 'assets', content);
    expect(() => cursors.open(ELSEWHERE, 'assets', cursor)).toThrow(CursorInvalid);
    expect(() => cursors.open(HERE, 'computers', cursor)).toThrow(CursorInvalid);
  });

  it('are accepted under a key from before a rotation, but not under a removed key', () => {
    const old = newKey();
    const fresh = newKey();
    const cursor = cursorsOf(old).issue(HERE, 'assets', content);
    expect(cursorsOf(fresh, old).open(HERE, 'assets', cursor)).toMatchObject(content);
    expect(() => cursorsOf(fresh).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('stay short for any filters by holding digests of long ones', () => {
    const cursors = cursorsOf(newKey());
    const long = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, noise()]));
    const cursor = cursors.issue(HERE, 'assets', { after: '9'.repeat(19), filters: { ...long, short: 'x' } });

    expect(cursor.length).toBeLessThanOrEqual(1024);
    const { filters, digests } = cursors.open(HERE, 'assets', cursor);
    expect(filters).toEqual({ short: 'x' });
    expect(Object.keys(digests ?? {})).toEqual(Object.keys(long));
  });

  it('are refused with a fault that names the parameter', () => {
    const detail = 'pageCursor is not a cursor of this list.';
    expect(new CursorInvalid()).toMatchObject({
      ...{ code: 'invalid_cursor', detail, faults: [{ parameter: 'pageCursor', code: 'format', detail }] },
    });
  });

  it('are refused when anything was added, left out or changed', () => {
    const key = newKey();
    const cursors = cursorsOf(key);
    const cursor = cursors.issue(HERE, 'assets', content);
    const bytes = Buffer.from(cursor, 'base64url');
    const altered = Array.from(bytes, (byte, index) => {
      const copy = Buffer.from(bytes);
      copy[index] = byte ^ 1;
      return copy.toString('base64url');
    });
    const short = [1, 5, 16, 17, 31, 32, 33].map((length) => bytes.subarray(0, length).toString('base64url'));
    const padded = [`${cursor}=`, `${cursor}.`, ` ${cursor}`, cursor.replace(/.$/, '$&A')];
    for (const other of [...altered, ...short, ...padded]) {
      expect(() => cursors.open(HERE, 'assets', other)).toThrow(CursorInvalid);
    }
  });

  it.each([
    ['27 ids', Array.from({ length: 27 }, () => randomUUID()).join(',')],
    ['1,000 characters of two bytes', 'é'.repeat(1_000)],
  ])('keep %s beside other filters', (_, long) => {
    const cursors = cursorsOf(newKey());
    const filters = { long, categoryKey: 'INFORMATION', hasOwner: 'false' };
    const cursor = cursors.issue(HERE, 'assets', { after: '12 a\nb', filters });
    expect(cursor.length).toBeLessThanOrEqual(1024);
    expect(cursors.open(HERE, 'assets', cursor)).toEqual({ after: '12 a\nb', filters, digests: {} });
  });

  it('give up a filter of more than 1,000 characters, however well it packs', () => {
    const cursors = cursorsOf(newKey());
    const filters = { long: 'é'.repeat(1_001), kept: 'x'.repeat(1_000) };
    const opened = cursors.open(HERE, 'assets', cursors.issue(HERE, 'assets', { after: '1', filters }));
    const digests = { long: digestOf(filters.long) };
    expect(opened).toEqual({ after: '1', filters: { kept: filters.kept }, digests });
  });

  it.each([
    ['x', 60],
    ['é', 30],
    ['💥', 15],
  ])(
    'keep a filter of sixty bytes of %s beside one that does not fit, and give up a longer one',
    (character, count) => {
      const cursors = cursorsOf(newKey());
      const filters = {
        kept: character.repeat(count),
        long: character.repeat(count + 1),
        huge: noise(),
      };
      const opened = cursors.open(HERE, 'assets', cursors.issue(HERE, 'assets', { after: '1', filters }));
      expect(opened).toEqual({
        after: '1',
        filters: { kept: filters.kept },
        digests: { long: digestOf(filters.long), huge: digestOf(filters.huge) },
      });
    },
  );

  it.each(['', 'x', 'AAAA', '💥', 'A'.repeat(10_000), '../../etc/passwd', '%00'])('refuse %j', (cursor) => {
    expect(() => cursorsOf(newKey()).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });
});
