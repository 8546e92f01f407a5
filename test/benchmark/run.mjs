// `npm run bench`: runs the benchmarks from the TypeScript sources.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const child = spawn(
  process.execPath,
  [
    '--conditions=source',
    '-r',
    join(root, 'test/support/typescript-register.cjs'),
    join(root, 'test/benchmark/main.ts'),
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', cwd: root },
);
// Forwards signals, because the benchmarks would otherwise continue for an hour.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (status) => process.exit(status ?? 1));
