import { Command } from 'commander';
import { CommandFailed, WrongUsage } from '../command-faults';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug } from '../options';
import { print } from '../output';
import { parseEmail } from './people';

interface LinkOptions extends CommonOptions {
  readonly workspace?: string;
  readonly email?: string;
}

export function consoleCommand(): Command {
  const group = new Command('console').description('the web console on this machine');
  withWriteOptions(group.command('link'))
    .description('print a link that signs a person in once, within five minutes; for a console on this machine only')
    .option('--workspace <slug>', 'the workspace (default: demo)', parseSlug)
    .option('--email <email>', 'e-mail address of the person (default: the first administrator)', parseEmail)
    .action(async ({ workspace, email, ...options }: LinkOptions) => {
      if ((workspace === undefined) !== (email === undefined)) {
        throw new WrongUsage('Give --workspace and --email together, or none of them for the demo.');
      }
      const link = await makeLink(workspace ?? 'demo', email ?? null);
      await print({ json: link, text: () => link.url }, options);
    });
  return group;
}

async function makeLink(slug: string, email: string | null): Promise<{ url: string; expiresAt: Date }> {
  const { operateIn } = await import('../operator.js');
  const { Settings } = await import('#libs/platform/config');
  const { ConsoleOperatorModule, NoSuchPerson, People } = await import('#libs/console/operators');
  return operateIn(slug, [ConsoleOperatorModule], async (operator, { id }) => {
    const settings = operator.get(Settings);
    if (settings.production || settings.console.oidc) {
      throw new CommandFailed('Links work without an issuer and outside production only. Sign in by OpenID Connect.');
    }
    try {
      const { token, expiresAt } = await operator.get(People).makeLink(id, email);
      return { url: `${settings.console.url}/sign-in/link/${token}`, expiresAt };
    } catch (error) {
      if (!(error instanceof NoSuchPerson)) throw error;
      const who = email === null ? 'no administrator' : 'no such person who may sign in';
      throw new CommandFailed(`The workspace "${slug}" has ${who}. Run "people add" first.`);
    }
  });
}
