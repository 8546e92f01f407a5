import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatIdentity, ownIdentity } from './process-identity';
import { withProcessLock } from './process-lock';

describe('The lock between processes', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'process-lock-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const patience = { waitAtMostSeconds: 10 };

  it('admits one at a time, and everybody in the end', async () => {
    let inside = 0;
    let most = 0;
    const visits = Array.from({ length: 12 }, () =>
      withProcessLock(
        directory,
        async () => {
          most = Math.max(most, ++inside);
          await sleep(2);
          inside--;
        },
        patience,
      ),
    );
    await Promise.all(visits);
    expect(most).toBe(1);
    expect(readdirSync(directory)).toEqual(['12']);
  });

  it('is released when the work fails', async () => {
    await expect(withProcessLock(directory, () => Promise.reject(new Error('no')), patience)).rejects.toThrow('no');
    await expect(withProcessLock(directory, () => Promise.resolve('in'), patience)).resolves.toBe('in');
  });

  it('is taken over from a dead holder', async () => {
    const dead = spawn('true');
    await new Promise((resolve) => dead.once('exit', resolve));
    writeFileSync(join(directory, '7'), formatIdentity({ pid: dead.pid ?? 0, startedAt: 'then' }));
    await expect(withProcessLock(directory, () => Promise.resolve('in'), patience)).resolves.toBe('in');
  });

  it("is taken over when a dead holder's process id belongs to another process", async () => {
    writeFileSync(join(directory, '7'), formatIdentity({ pid: process.pid, startedAt: 'earlier' }));
    await expect(withProcessLock(directory, () => Promise.resolve('in'), patience)).resolves.toBe('in');
  });

  it('waits for a living holder and names it when the time is over', async () => {
    writeFileSync(join(directory, '7'), formatIdentity(ownIdentity()));
    await expect(withProcessLock(directory, () => Promise.resolve('in'), { waitAtMostSeconds: 0.1 })).rejects.toThrow(
      `Process ${process.pid}`,
    );
  });
});
