import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { WrongUsage } from './command-faults';
import { withCommonOptions } from './options';

/**
 * Options of a command that writes, or writes with these options only. It runs in the name of an operator, whom the setting
 * OPERATOR_NAME tells.
 */
export function withWriteOptions<Options>(
  command: Command,
  writes: (options: Options) => boolean = () => true,
): Command {
  return withCommonOptions(command)
    .option('--as <name>', 'who runs it, as the audit shows it (default: OPERATOR_NAME, else your login name)')
    .hook('preAction', async (_, action) => {
      const options = action.opts<Options & { readonly as?: string }>();
      if (options.as !== undefined || writes(options)) await nameOperator(options.as);
    });
}

async function nameOperator(given: string | undefined): Promise<void> {
  const { OPERATOR_NAME_RULE, isOperatorName } = await import('#libs/platform/config');
  const name = given ?? (process.env['OPERATOR_NAME'] || loginName());
  if (!isOperatorName(name)) {
    throw new WrongUsage(`An operator's name is ${OPERATOR_NAME_RULE}, unlike "${name}". Give --as or OPERATOR_NAME.`);
  }
  process.env['OPERATOR_NAME'] = name;
}

/** The user behind `sudo`, else that of this process. A container may run it under a number without a name. */
function loginName(): string {
  if (process.env['SUDO_USER']) return process.env['SUDO_USER'];
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
