import { Command } from 'commander';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions } from '../options';
import { print } from '../output';

export function idempotencyCommand(): Command {
  const group = new Command('idempotency').description('idempotency records: the responses kept for replay');
  withWriteOptions(group.command('purge'))
    .description('remove the expired records of every workspace; the API does the same every minute')
    .action(purge);
  return group;
}

async function purge(options: CommonOptions): Promise<void> {
  const { operate } = await import('../operator.js');
  const { Database } = await import('#libs/platform/database');
  const { IdempotencyPurge } = await import('#libs/platform/idempotency');
  const purged = await operate([], (operator) =>
    operator.withProgress('records', (show) =>
      new IdempotencyPurge(operator.get(Database)).run('wait', (records) => show(records, null)),
    ),
  );
  await print({ json: { purged }, text: () => `Removed ${purged} records.` }, options);
}
