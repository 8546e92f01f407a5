import { Command } from 'commander';
import type { Scope } from '#libs/kernel';
import { type CommonOptions, forApplication, parseName, parseSlug, withCommonOptions } from '../options';
import { applicationCard, applicationJson } from '../application-output';
import { withWriteOptions } from '../operator-name';
import { card, print, table } from '../output';
import { scopeOption } from '../scope-option';
import { applicationKeysCommand } from './application-keys';
import { applicationTrustCommand } from './application-trust';
import { addChanges, oneApplication } from './application-changes';

interface CreateOptions extends CommonOptions {
  readonly workspace: string;
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly oldAudience?: boolean;
  /** False with --no-secret. */
  readonly secret: boolean;
}

export function applicationsCommand(): Command {
  const group = new Command('applications').description('API clients of a workspace: a client id, a secret and scopes');
  withWriteOptions(group.command('create'))
    .description('create an application and show its secret once')
    .requiredOption('--workspace <slug>', 'the workspace that it belongs to', parseSlug)
    .requiredOption('--name <name>', 'its name for people', parseName)
    .addOption(scopeOption())
    .option('--old-audience', 'its assertions may name the address of the token endpoint as audience')
    .option('--no-secret', 'make no secret: a key or a trust proves the application')
    .action(create);
  withCommonOptions(group.command('list'))
    .description('list applications, oldest first')
    .option('--workspace <slug>', 'only of this workspace', parseSlug)
    .action(list);
  forApplication(withCommonOptions(group.command('show')))
    .description('show one application, without its secret')
    .action((clientId: string, options: CommonOptions) =>
      oneApplication(clientId, options, (applications) => applications.find(clientId)),
    );
  forApplication(withWriteOptions(group.command('enable')))
    .description('enable a disabled application again')
    .action((clientId: string, options: CommonOptions) =>
      oneApplication(clientId, options, (applications) => applications.setDisabled(clientId, false)),
    );
  forApplication(withWriteOptions(group.command('disable')))
    .description('disable an application from its next request on; enable reverses it')
    .action((clientId: string, options: CommonOptions) =>
      oneApplication(clientId, options, (applications) => applications.setDisabled(clientId, true)),
    );
  addChanges(group);
  group.addCommand(applicationKeysCommand());
  group.addCommand(applicationTrustCommand());
  return group;
}

async function create({ workspace, name, scope, secret, ...options }: CreateOptions): Promise<void> {
  const { operateIn } = await import('../operator.js');
  const { Applications } = await import('#libs/auth/operators');
  const { application, ...once } = await operateIn(workspace, [], async (operator, { id }) => {
    const applications = operator.get(Applications);
    if (!secret) return { application: await applications.createWithoutSecret(id, name, scope, options) };
    const created = await applications.create(id, name, scope, options);
    return { application: created.application, client_secret: created.clientSecret };
  });
  const { client_id, ...rest } = applicationJson(application);
  const next = secret
    ? 'The secret is shown only once: store it now.'
    : `It has no secret. Run "applications keys add ${client_id}" or "applications trust add ${client_id}".`;
  const text = async (): Promise<string> =>
    `${await card({ client_id, ...once, ...applicationCard(application) })}\n${next}`;
  await print({ json: { client_id, ...once, ...rest }, text }, options);
}

async function list({ workspace, ...options }: CommonOptions & { readonly workspace?: string }): Promise<void> {
  const { operate, workspaceOf } = await import('../operator.js');
  const { Applications, AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const { applications, slugs } = await operate([AuthOperatorModule], async (operator) => {
    const only = workspace === undefined ? null : await workspaceOf(operator, workspace);
    const workspaces = only ? [only] : await operator.get(Workspaces).list();
    return {
      applications: await operator.get(Applications).list(only?.id ?? null),
      slugs: new Map(workspaces.map(({ id, slug }) => [id, slug])),
    };
  });
  const text = (): Promise<string> =>
    table(
      ['client_id', 'workspace', 'name', 'scopes', 'disabled', 'created', 'last token'],
      applications.map(({ clientId, workspaceId, name, scopes, disabled, createdAt, issuedAt }) => {
        return [clientId, slugs.get(workspaceId), name, scopes, disabled, createdAt, issuedAt];
      }),
    );
  await print({ json: { items: applications.map(applicationJson) }, text }, options);
}
