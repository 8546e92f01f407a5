import { type Command as CommanderCommand, Command, InvalidArgumentError, Option } from 'commander';
import type { People, Person, Role } from '#libs/console/operators';
import { type WorkspaceId, isEmail, isSubject } from '#libs/kernel';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseName, parseSlug, parseUuid, withCommonOptions } from '../options';
import { card, print, table } from '../output';

const parseId = parseUuid('The id of a person is a UUID. Run "people list" to see all.');

interface PeopleOptions extends CommonOptions {
  readonly workspace: string;
  readonly yesLastAdmin?: boolean;
}

interface AddOptions extends PeopleOptions {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly subject?: string;
}

export function peopleCommand(): CommanderCommand {
  const group = new Command('people').description('who may use the console of a workspace');
  inWorkspace(withWriteOptions(group.command('add')))
    .description('add a person, or open one again who did not sign in within 14 days')
    .requiredOption('--email <email>', 'e-mail address, which the issuer verifies at the first sign-in', parseEmail)
    .requiredOption('--name <name>', 'name, as the console and its audit page show it', parseName)
    .addOption(roleOption().makeOptionMandatory())
    .option(
      '--subject <sub>',
      'the account’s `sub` at an issuer that verifies no e-mail addresses; a refused sign-in shows it',
      parseSubject,
    )
    .action(add);
  inWorkspace(withCommonOptions(group.command('list')))
    .description('list the people of a workspace, oldest first')
    .action(list);
  lastAdmin(inWorkspace(withWriteOptions(group.command('set-role'))))
    .description('make a person a viewer or an administrator; it acts on the next request')
    .argument('<id>', 'id of the person', parseId)
    .addOption(roleOption().makeOptionMandatory())
    .action((id: string, options: PeopleOptions & { readonly role: Role }) =>
      change(options, (people, workspaceId) => people.setRole(workspaceId, id, options.role, options.yesLastAdmin)),
    );
  lastAdmin(inWorkspace(withWriteOptions(group.command('remove'))))
    .description('end the access of a person now; the name stays readable in the audit')
    .argument('<id>', 'id of the person', parseId)
    .action((id: string, options: PeopleOptions) =>
      change(options, (people, workspaceId) => people.remove(workspaceId, id, options.yesLastAdmin)),
    );
  lastAdmin(inWorkspace(withWriteOptions(group.command('erase'))))
    .description('remove a person, and erase name and e-mail address for good')
    .argument('<id>', 'id of the person', parseId)
    .action(async (id: string, options: PeopleOptions) => {
      await confirm(`Erase the person ${id}? Name and e-mail address are gone for good.`, options);
      await change(options, (people, workspaceId) => people.erase(workspaceId, id, options.yesLastAdmin));
    });
  return group;
}

const inWorkspace = (command: CommanderCommand): CommanderCommand =>
  command.requiredOption('--workspace <slug>', 'the workspace', parseSlug);

const lastAdmin = (command: CommanderCommand): CommanderCommand =>
  command.option('--yes-last-admin', 'do it also to the last administrator of the workspace');

const roleOption = (): Option =>
  new Option('--role <role>', 'viewer: sees everything but applications and people; admin: changes it').choices([
    'viewer',
    'admin',
  ]);

async function add({ workspace, email, name, role, subject, ...options }: AddOptions): Promise<void> {
  const person = await withPeople(workspace, (people, workspaceId, issuer) => {
    if (subject !== undefined && issuer === null) {
      throw new CommandFailed('--subject needs the issuer: set CONSOLE_OIDC_ISSUER and the settings beside it.');
    }
    const account = subject === undefined || issuer === null ? {} : { issuer, subject };
    return people.add(workspaceId, { email, name, role, ...account });
  });
  await show(person, options);
}

async function list({ workspace, ...options }: PeopleOptions): Promise<void> {
  const people = await withPeople(workspace, (service, workspaceId) => service.list(workspaceId));
  const text = () =>
    table(
      ['id', 'name', 'email', 'role', 'state', 'last sign-in'],
      people.map((one) => [one.id, one.name, one.email, one.role, one.state, one.signedInAt]),
    );
  await print({ json: { items: people }, text }, options);
}

async function change(
  options: PeopleOptions,
  work: (people: People, workspaceId: WorkspaceId) => Promise<Person>,
): Promise<void> {
  await show(await withPeople(options.workspace, work), options);
}

async function show(person: Person, options: CommonOptions): Promise<void> {
  await print({ json: person, text: () => card({ ...person }) }, options);
}

async function withPeople<Result>(
  slug: string,
  work: (people: People, workspaceId: WorkspaceId, issuer: string | null) => Promise<Result>,
): Promise<Result> {
  const { operateIn } = await import('../operator.js');
  const { Settings } = await import('#libs/platform/config');
  const { ConsoleOperatorModule, LastAdministrator, NoSuchPerson, People, PersonThere } =
    await import('#libs/console/operators');
  try {
    return await operateIn(slug, [ConsoleOperatorModule], (operator, { id }) => {
      const issuer = operator.get(Settings).console.oidc?.issuer ?? null;
      return Promise.resolve(work(operator.get(People), id, issuer));
    });
  } catch (error) {
    if (error instanceof NoSuchPerson) {
      throw new CommandFailed(`There is no such person in "${slug}". Run "people list" to see all.`);
    }
    if (error instanceof LastAdministrator) throw new CommandFailed(`${error.message} Or add --yes-last-admin.`);
    if (error instanceof PersonThere) throw new CommandFailed(error.message);
    throw error;
  }
}

export function parseEmail(value: string): string {
  if (isEmail(value)) return value;
  throw new InvalidArgumentError('An e-mail address has one @, no spaces and at most 254 characters.');
}

function parseSubject(value: string): string {
  if (isSubject(value)) return value;
  throw new InvalidArgumentError('A subject has 1 to 255 printable characters and no blanks.');
}
