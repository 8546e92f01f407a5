import { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from '../options';
import { print } from '../output';

export function idempotencyCommand(): Command {
  const group = new Command('idempotency').description('idempotency records: the responses kept for replay');
  withCommonOptions(group.command('purge'))
    .description('remove the expired records of every workspace; the API does the same every minute')
    .action(purge);
  return group;
}

async function purge(options: CommonOptions): Promise<void> {
  const { operate } = await import('../operator.js');
  const { createProgress } = await import('../progress.js');
  const purged = await operate(async (operator) => {
    const progress = createProgress('records');
    try {
      return await operator.idempotencyPurge.run('wait', (sofar) => {
        progress.show(sofar, null);
        operator.checkInterrupted();
      });
    } finally {
      progress.end();
    }
  });
  await print({ json: { purged }, text: () => `Removed ${purged} records.` }, options);
}
