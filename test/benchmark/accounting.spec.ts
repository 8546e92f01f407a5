import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cpuOfProcesses, memoryOf } from './accounting';

/** CPU time of each process, beyond its start. */
const BUSY_MS = 80;
/** Tolerance for three accounts, each in steps of ten milliseconds. */
const UNTOLD_MS = 40;
const USED = `const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };`;
const BUSY = `${USED} for (const until = used() + ${BUSY_MS}; used() < until;);`;
const [ENDS, STAYS] = [`${BUSY} console.log(used());`, `${BUSY} console.log(used()); process.stdin.resume();`];
/** Uses CPU time itself, in a child that has ended and in one that runs. Then reports the sum. */
const PARENT = `
  const { spawn } = require('node:child_process');
  const { once } = require('node:events');
  ${BUSY}
  const [ends, stays] = ${JSON.stringify([ENDS, STAYS])}.map((text) => spawn(process.execPath, ['-e', text]));
  Promise.all([once(ends.stdout, 'data'), once(stays.stdout, 'data'), once(ends, 'exit')]).then(([one, other]) =>
    console.log(Number(one) + Number(other) + used()));
  process.stdin.on('end', () => process.exit()).resume();`;

describe('The CPU accounting of a server', () => {
  it('includes the processes it started and those that have ended', async () => {
    const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const [told] = (await once(parent.stdout, 'data')) as [Buffer];
      const cpu = cpuOfProcesses(parent.pid ?? 0);
      // Without /proc the value is NaN, and no comparison with NaN is true.
      expect(Number.isNaN(cpu)).toBe(!existsSync('/proc/self/stat'));
      expect(cpu < Number(told) - UNTOLD_MS).toBe(false);
    } finally {
      parent.stdin.end();
      await once(parent, 'exit');
    }
  });

  it('returns no number when the process does not exist', () => {
    expect(cpuOfProcesses(Number.NaN)).toBeNaN();
    expect(memoryOf(Number.NaN)).toBeNull();
  });
});
