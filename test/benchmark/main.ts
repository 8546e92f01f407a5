import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { benchmarkAuth } from './auth-benchmark';
import { benchmarkImport } from './import-benchmark';
import { benchmarkList } from './list-benchmark';
import { benchmarkReads } from './read-benchmark';
import { benchmarkUpdates } from './update-benchmark';
import { withBenchmarkDatabase } from './benchmark-database';

const HELP = `npm run bench -- <what> [--assets N] [--records N] [--rounds N]

  read     latency and cost of pages by size and depth, totals, and the speed of an import
  import   the speed of an import alone
  auth     cost of the guards in front of a route, and of a token, against the least they can cost
  list     CPU and throughput of a page over HTTP, against a server written by hand and one as tutorials write it
  update   cost of a single update, a bulk of 100 and a replay over HTTP, against the bare transaction

  --assets N    size of the large workspace (1000000)
  --records N   records of an import (200000)
  --rounds N    rounds of each measurement; the variants take turns within each (5)

Every figure is a ratio of two measurements of the same run. Exits with 1 when a target is missed.`;

const WHATS = ['read', 'import', 'auth', 'list', 'update'];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      assets: { type: 'string', default: '1000000' },
      records: { type: 'string', default: '200000' },
      rounds: { type: 'string', default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  const [what] = positionals;
  if (values.help || !WHATS.includes(what ?? '')) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const rounds = Number(values.rounds);
  const benchmarkInventory = async (): Promise<number> => {
    let missed = 0;
    await withBenchmarkDatabase(async (database) => {
      missed += await benchmarkImport(database, { records: Number(values.records), rounds: Math.min(rounds, 3) });
      if (what === 'read') missed += await benchmarkReads(database, { assets: Number(values.assets), rounds });
    });
    return missed;
  };
  const benchmarks: Record<string, () => Promise<number>> = {
    update: () => benchmarkUpdates({ rounds }),
    auth: () => benchmarkAuth({ rounds }),
    list: () => benchmarkList({ rounds, assets: Number(values.assets) }),
  };
  const missed = await (benchmarks[what ?? ''] ?? benchmarkInventory)();
  console.log(missed === 0 ? '\nEvery target is met.' : `\n${missed} target(s) missed.`);
  return missed === 0 ? 0 : 1;
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
