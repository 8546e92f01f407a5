import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withKeyLock } from './key-lock';

describe('withKeyLock', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('admits one at a time, and all in the end', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, (inside += 1));
      await delay(5);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withKeyLock(directory, work)));
    expect([most, inside]).toEqual([1, 0]);
    expect(readdirSync(directory)).toEqual(['.keys-lock-20']);
  });

  it('is released when the work fails', async () => {
    await expect(withKeyLock(directory, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    expect(await withKeyLock(directory, () => 'done')).toBe('done');
  });

  it('is taken over from a dead holder, by one at a time', async () => {
    writeFileSync(join(directory, '.keys-lock-7'), 'held\n');
    let inside = 0;
    const work = async () => {
      expect((inside += 1)).toBe(1);
      await delay(5);
      inside -= 1;
    };
    await Promise.all([withKeyLock(directory, work), withKeyLock(directory, work), withKeyLock(directory, work)]);
    expect(readdirSync(directory)).toEqual(['.keys-lock-10']);
  });
});
