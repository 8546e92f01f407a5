import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Cleanup } from '../../../../test/support/cleanup.cjs';
import { Fifo } from '../../../../test/support/fifo';
import { LogOutput } from './log-output';

const LINE = `${'x'.repeat(299)}\n`;

describe('LogOutput', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  describe('to a file', () => {
    let path: string;
    let file: number;
    beforeEach(() => (file = openSync((path = join(directory, 'log')), 'a')));
    afterEach(() => closeSync(file));

    it('writes lines that come close together once, in order', async () => {
      const output = new LogOutput(file);

      output.write('one\n');
      output.write('two\n');

      expect(readFileSync(path, 'utf8')).toBe('');
      await delay(100);
      expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
      output.write('three\n');
      await delay(100);
      expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n');
    });

    it('writes waiting lines at once when the process ends', () => {
      const output = new LogOutput(file);

      output.write('fatal\n');
      output.flushSync();

      expect(readFileSync(path, 'utf8')).toBe('fatal\n');
    });
  });

  it('drops and counts lines while its disk is full, and tells the number once there is room', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'compliance-small-'));
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status === 0;
    const cleanup = new Cleanup('umount -l "$1"; rmdir "$1"', disk);
    const [path, ballast] = [isMounted ? join(disk, 'log') : '/dev/full', join(disk, 'ballast')];
    const file = openSync(path, 'a');
    if (isMounted) {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(ballast, Buffer.alloc((bavail - 2) * bsize));
    }
    const output = new LogOutput(file);
    const recoveries: number[] = [];
    output.onRecovery = (dropped) => recoveries.push(dropped);

    for (let line = 0; line < 30_000; line += 1) {
      output.write(LINE);
      if (line === 1_000) await delay(100);
    }

    await delay(100);
    expect([output.dropped > 0, recoveries]).toEqual([true, []]);
    // Only root can mount a disk, and /dev/full is always full. Then the returning reader below shows the rest.
    if (isMounted) {
      rmSync(ballast);
      const kept = (30_000 - output.dropped) * LINE.length;
      for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(10)) {
        if (readFileSync(path).length === kept) break;
      }
      expect(readFileSync(path, 'utf8') === LINE.repeat(30_000 - output.dropped)).toBe(true);
      expect(recoveries).toEqual([output.dropped]);
    }
    // Forgets what does not fit, so that nothing is written to the next file with this number.
    output.flushSync();
    closeSync(file);
    await cleanup.run();
  });

  describe('to a pipe without a reader', () => {
    let pipe: Fifo;
    beforeEach(() => (pipe = new Fifo({ isNonBlocking: true })));
    afterEach(() => pipe.remove());

    it('keeps a bounded backlog, drops and counts the rest, and logs the number once there is room', async () => {
      const output = new LogOutput(pipe.writer);
      const recoveries: number[] = [];
      output.onRecovery = (dropped) => recoveries.push(dropped);

      for (let line = 0; line < 100_000; line += 1) {
        output.write(LINE);
        if (line === 1_000) await delay(100);
      }
      await delay(100);
      const kept = 100_000 - output.dropped;
      expect(kept * LINE.length).toBeLessThan(5e6);
      expect(recoveries).toEqual([]);

      const whole = kept * LINE.length;
      for (const deadline = Date.now() + 30_000; pipe.text.length < whole && Date.now() < deadline; pipe.read()) {
        await delay(5);
      }
      expect(pipe.text === LINE.repeat(kept)).toBe(true);
      expect(recoveries).toEqual([output.dropped]);
    });

    it('gives up after a short time when the process ends', () => {
      const output = new LogOutput(pipe.writer);
      for (let line = 0; line < 1_000; line += 1) output.write(LINE);
      const since = performance.now();

      output.flushSync();

      expect(performance.now() - since).toBeLessThan(1_000);
    });

    it('survives the end of the reader', async () => {
      const output = new LogOutput(pipe.writer);
      pipe.leave();

      output.write(LINE);
      await delay(100);
      pipe.comeBack();
      await delay(100);
      pipe.read();

      expect(pipe.text).toBe(LINE);
    });
  });
});
