import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
