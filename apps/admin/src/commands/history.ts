import { Command } from 'commander';
import { assetId } from '#libs/kernel';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug, parseUuid } from '../options';
import { print } from '../output';

interface EraseOptions extends CommonOptions {
  readonly workspace: string;
  readonly employee: string;
}

export function historyCommand(): Command {
  const group = new Command('history').description('the past of a workspace');
  withWriteOptions(group.command('erase'))
    .description("take an employee's name and e-mail address out of the past; cannot be undone")
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--employee <id>', 'id of the employee, as the API shows it', parseUuid('An id is a UUID.'))
    .action(erase);
  return group;
}

async function erase({ workspace, employee, ...options }: EraseOptions): Promise<void> {
  await confirm(`Erase the name and e-mail address of employee ${employee} in the history of "${workspace}"?`, options);
  const { operateIn } = await import('../operator.js');
  const { HistoryErasure, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const isErased = await operateIn(workspace, [InventoryOperatorModule], (operator, { id }) =>
    operator.get(HistoryErasure).erase(id, assetId(employee)),
  );
  if (!isErased) throw new CommandFailed(`The workspace has no employee with the id ${employee}.`);
  await print(
    { json: { workspace, employee, erased: true }, text: () => 'The history of the employee is erased.' },
    options,
  );
}
