import { type Command, InvalidArgumentError } from 'commander';
import type { Application, Applications } from '#libs/auth/operators';
import { RATE_LIMIT_RULE, type RateLimit, type Scope, parseRateLimit } from '#libs/kernel';
import { applicationCard, applicationJson } from '../application-output';
import { CommandFailed, WrongUsage } from '../command-faults';
import { confirm } from '../confirmation';
import type { Operator } from '../operator';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, forApplication, parseDuration } from '../options';
import { card, print } from '../output';
import { scopeOption } from '../scope-option';
import { visibleText } from '../visible-text';

interface LimitOptions extends CommonOptions {
  readonly read?: RateLimit;
  readonly write?: RateLimit;
  readonly token?: RateLimit;
}

/** Commands that change an existing application. Each change applies to its next request, on every instance. */
export function addChanges(group: Command): void {
  forApplication(withWriteOptions(group.command('rotate-secret')))
    .description('replace the secret and show the new one once; without --overlap the old secret and the token end now')
    .option('--overlap <duration>', 'how long the old secret is still accepted, such as 24h', parseDuration)
    .action(rotateSecret);
  forApplication(withWriteOptions(group.command('end-secret')))
    .description('end the old secret of an overlap now, and the live token when the old secret obtained it')
    .requiredOption('--old', 'the old secret; the current one stays')
    .action((clientId: string, options: CommonOptions) =>
      oneApplication(clientId, options, (applications) => applications.endOldSecret(clientId)),
    );
  forApplication(withWriteOptions(group.command('remove-secret')))
    .description('remove the secret and end the live token: keys and trusts alone prove the application')
    .action(removeSecret);
  forApplication(withWriteOptions(group.command('delete')))
    .description('delete a disabled application for good; its audit events stay')
    .action(remove);
  forApplication(withWriteOptions(group.command('set-scopes')))
    .description('replace the scopes of an application')
    .addOption(scopeOption())
    .action((clientId: string, { scope, ...options }: CommonOptions & { readonly scope: readonly Scope[] }) =>
      oneApplication(clientId, options, (applications) => applications.setScopes(clientId, scope)),
    );
  forApplication(withWriteOptions(group.command('set-limits')))
    .description('set limits of one application, each as <per minute>/<burst>')
    .option('--read <limit>', 'reads, such as 500/1000', parseLimit)
    .option('--write <limit>', 'writes', parseLimit)
    .option('--token <limit>', 'token requests', parseLimit)
    .action(setLimits);
  forApplication(withWriteOptions(group.command('clear-limits')))
    .description('remove the limits of one application, so that the general ones apply')
    .action((clientId: string, options: CommonOptions) =>
      oneApplication(clientId, options, (applications) => applications.clearLimits(clientId)),
    );
}

async function rotateSecret(
  clientId: string,
  { overlap, ...options }: CommonOptions & { readonly overlap?: number },
): Promise<void> {
  const rotated = await onApplication(clientId, (operator, { Applications }) =>
    operator.get(Applications).rotateSecret(clientId, overlap ?? null),
  );
  const { previousSecretExpiresAt } = rotated.application;
  const secret = { client_id: clientId, client_secret: rotated.clientSecret };
  const text = async (): Promise<string> => {
    const drawn = await card({ ...secret, 'old secret until': previousSecretExpiresAt ?? 'now' });
    return `${drawn}\nThe secret is shown only once: store it now.`;
  };
  await print({ json: { ...secret, previousSecretExpiresAt }, text }, options);
}

async function removeSecret(clientId: string, options: CommonOptions): Promise<void> {
  await confirm(`Remove the secret of ${clientId}? Its live token ends.`, options);
  await oneApplication(clientId, options, (applications) => applications.removeSecret(clientId));
}

async function remove(clientId: string, options: CommonOptions): Promise<void> {
  await confirm(`Delete the application ${clientId} for good?`, options);
  const deleted = await onApplication(clientId, (operator, { Applications }) =>
    operator.get(Applications).delete(clientId),
  );
  await print(
    { json: { client_id: clientId, deleted: true }, text: () => `Deleted "${visibleText(deleted.name)}".` },
    options,
  );
}

async function setLimits(clientId: string, { read, write, token, ...options }: LimitOptions): Promise<void> {
  const limits = { ...(read && { read }), ...(write && { write }), ...(token && { token }) };
  if (Object.keys(limits).length === 0) throw new WrongUsage('Name at least one limit: --read, --write or --token.');
  await oneApplication(clientId, options, (applications) => applications.setLimits(clientId, limits));
}

/** Shows one application after `work`, which returns null for an unknown client id. */
export async function oneApplication(
  clientId: string,
  options: CommonOptions,
  work: (applications: Applications) => Promise<Application | null>,
): Promise<void> {
  const application = await onApplication(clientId, (operator, { Applications }) => work(operator.get(Applications)));
  const text = (): Promise<string> => card({ client_id: clientId, ...applicationCard(application) });
  await print({ json: applicationJson(application), text }, options);
}

/** Runs `work` on an application. @throws where it returns null, for an unknown client id */
export async function onApplication<Result>(
  clientId: string,
  work: (operator: Operator, auth: typeof import('#libs/auth/operators')) => Promise<Result | null>,
): Promise<Result> {
  const { operate } = await import('../operator.js');
  const auth = await import('#libs/auth/operators');
  const result = await operate([auth.AuthOperatorModule], (operator) => work(operator, auth));
  if (result === null) throw unknownApplication(clientId);
  return result;
}

export const unknownApplication = (clientId: string): CommandFailed =>
  new CommandFailed(`There is no application with the client id "${clientId}". Run "applications list" to see all.`);

function parseLimit(value: string): RateLimit {
  const limit = parseRateLimit(value);
  if (limit) return limit;
  throw new InvalidArgumentError(`A limit is ${RATE_LIMIT_RULE}.`);
}
