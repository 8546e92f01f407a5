import { workspaceId } from '#libs/kernel';
import { newCursorKeyFile, readCursorKeys } from './cursor-keys';
import { CursorInvalid, Cursors } from './cursors';

const HERE = workspaceId('00000000-0000-4000-8000-000000000001');
const ELSEWHERE = workspaceId('00000000-0000-4000-8000-000000000002');
const content = { after: '4711', filters: { classification: 'PUBLIC' } };
const keys = () => readCursorKeys(newCursorKeyFile(0));

describe('Cursors', () => {
  it('give back what they hold, where they were issued', () => {
    const cursors = new Cursors(keys);
    const [key] = keys();
    const sealed = new Cursors(() => (key ? [key] : []));
    expect(sealed.open(HERE, 'assets', sealed.issue(HERE, 'assets', content))).toEqual(content);
    expect(() => cursors.open(HERE, 'assets', sealed.issue(HERE, 'assets', content))).toThrow(CursorInvalid);
  });

  it('are bound to workspace and resource', () => {
    const own = keys();
    const cursors = new Cursors(() => own);
    const cursor = cursors.issue(HERE, 'assets', content);
    expect(() => cursors.open(ELSEWHERE, 'assets', cursor)).toThrow(CursorInvalid);
    expect(() => cursors.open(HERE, 'computers', cursor)).toThrow(CursorInvalid);
  });

  it('of the key before a rotation are still accepted, of a removed key not', () => {
    const old = keys();
    const fresh = keys();
    const cursor = new Cursors(() => old).issue(HERE, 'assets', content);
    expect(new Cursors(() => [...fresh, ...old]).open(HERE, 'assets', cursor)).toEqual(content);
    expect(() => new Cursors(() => fresh).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it.each(['', 'x', 'AAAA', '💥', 'A'.repeat(10_000), '../../etc/passwd', '%00'])('refuse %j', (cursor) => {
    const own = keys();
    expect(() => new Cursors(() => own).open(HERE, 'assets', cursor)).toThrow(CursorInvalid);
  });

  it('refuse a key file that holds no usable key', () => {
    expect(() => readCursorKeys('{"keys":[]}')).toThrow();
    const short = { kid: '00000000', secret: 'AAAA', createdAt: '2026-01-01T00:00:00Z' };
    expect(() => readCursorKeys(JSON.stringify({ keys: [short] }))).toThrow('32 bytes');
  });
});
