import { Command } from 'commander';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions } from '../options';
import { print } from '../output';

export function migrateCommand(): Command {
  return withWriteOptions(new Command('migrate'))
    .description('bring the database up to date and grant the role of DATABASE_URL what it needs; safe to repeat')
    .action(async (options: CommonOptions) => {
      const { migrate } = await import('#libs/platform/database');
      const { schema } = await import('../../../whole-schema.js');
      const { withDatabase } = await import('../operator-database.js');
      const { applied } = await withDatabase(async (database) => {
        const report = await migrate({ ...database, schema, onWait: sayThatItWaits });
        return { applied: [...database.migrated, ...report.applied] };
      });
      const text = applied.length === 0 ? 'The database is up to date.' : `Applied:\n  ${applied.join('\n  ')}`;
      await print({ json: { applied }, text: () => text }, options);
    });
}

/** Also without a terminal: a deployment's log must show why nothing happens. */
function sayThatItWaits(reason: string): void {
  process.stderr.write(`${reason}\n`);
}
