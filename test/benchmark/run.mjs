// Runs the benchmarks from the TypeScript sources: `npm run bench`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const { status } = spawnSync(
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
process.exit(status ?? 1);
