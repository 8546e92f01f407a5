import { Command, InvalidArgumentError } from 'commander';
import type { ClientKey, ListedTrust, NewTrust, Trusts } from '#libs/auth/operators';
import type { Operator } from '../operator';
import { CommandFailed, WrongUsage } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, forApplication, parseUuid, readText, withCommonOptions } from '../options';
import { print, table } from '../output';
import { onApplication } from './application-changes';

const parseId = parseUuid('The id of a trust is a UUID, as "trust list" shows it.');

interface AddOptions extends CommonOptions {
  readonly issuer: string;
  readonly subject: string;
  readonly audience?: string;
  readonly jwks?: string;
  readonly insecure?: boolean;
}

interface RefreshOptions extends CommonOptions {
  readonly jwks?: string;
  readonly endToken?: boolean;
}

/** Issuers whose tokens prove an application: GitHub Actions, GitLab, Kubernetes, Entra, Google. */
export function applicationTrustCommand(): Command {
  const group = new Command('trust').description('issuers whose tokens prove an application without a secret');
  forApplication(withWriteOptions(group.command('add')))
    .description('trust the tokens of an issuer for one subject; they are accepted from the next token request on')
    .requiredOption('--issuer <url>', 'iss of the tokens, exactly')
    .requiredOption('--subject <subject>', 'sub of the tokens; may end in ":*" or "/*", as in repo:acme/*')
    .option('--audience <audience>', 'aud of the tokens (default: BASE_URL)', parseAudience)
    .option('--jwks <file>', 'JWK set of the issuer, where this API cannot fetch it')
    .option('--insecure', 'allow http:// and a loopback address, for a test issuer; never in production')
    .action(add);
  forApplication(withCommonOptions(group.command('list')))
    .description('list the trusts of an application, oldest first')
    .action((clientId: string, options: CommonOptions) => listed(clientId, options, (trusts) => trusts.list(clientId)));
  forApplication(withWriteOptions(group.command('remove')))
    .description('remove a trust and end the live token')
    .argument('<id>', 'id of the trust, as list shows it', parseId)
    .action(remove);
  forApplication(withWriteOptions(group.command('refresh')))
    .description('fetch the key sets of all trusts of an application, or of one, now')
    .argument('[id]', 'id of a trust, as list shows it', parseId)
    .option('--jwks <file>', 'the new JWK set of a trust that was added with --jwks')
    .option('--end-token', 'end the live token, too')
    .action(refresh);
  return group;
}

async function add(clientId: string, { issuer, subject, audience, jwks, ...options }: AddOptions): Promise<void> {
  const { issuerFault, subjectFault } = await import('#libs/auth/operators');
  const { Settings } = await import('#libs/platform/config');
  const insecure = options.insecure === true;
  await listed(clientId, options, async (trusts, operator) => {
    const { baseUrl, production } = operator.get(Settings);
    if (insecure && production) throw new WrongUsage('--insecure is refused in production.');
    const fault = issuerFault(issuer, baseUrl, insecure) ?? subjectFault(subject);
    if (fault !== null) throw new WrongUsage(fault);
    if (audience !== undefined && audience !== baseUrl) warnOfAudience(audience);
    if ((await trusts.list(clientId)) === null) return null;
    const keys = await keysOf(operator, jwks, { issuer, insecure, ofOperator: true });
    const trust = { issuer, subject, audience: audience ?? null, insecure, given: jwks !== undefined, keys };
    return trusts.add(clientId, trust satisfies NewTrust);
  });
}

const warnOfAudience = (audience: string): unknown =>
  process.stderr.write(
    `Warning: tokens for "${audience}" are not made for this API alone. Whoever receives one can use it here.\n`,
  );

/** From a file, or from the issuer. @throws with exit code 1 when the set cannot be had */
async function keysOf(
  operator: Operator,
  file: string | undefined,
  source: ListedTrust['source'],
): Promise<ClientKey[]> {
  const { IssuerKeys, readIssuerKeys } = await import('#libs/auth/operators');
  if (file !== undefined) return readIssuerKeys(await readText(file));
  return operator.get(IssuerKeys).fetch(source);
}

async function remove(clientId: string, id: string, options: CommonOptions): Promise<void> {
  await confirm(`Remove the trust ${id}? The live token of ${clientId} ends.`, options);
  await listed(clientId, options, (trusts) => trusts.remove(clientId, id), id);
}

async function refresh(
  clientId: string,
  id: string | undefined,
  { jwks, endToken = false, ...options }: RefreshOptions,
): Promise<void> {
  if (jwks !== undefined && id === undefined) throw new WrongUsage('With --jwks, name the trust by its id.');
  const { thumbprintsOf } = await import('#libs/auth/operators');
  const work = async (trusts: Trusts, operator: Operator) => {
    const all = (await trusts.list(clientId)) ?? [];
    const chosen = all.filter((trust) => (id === undefined ? !trust.given : trust.id === id));
    if (chosen.some(({ given }) => given !== (jwks !== undefined))) {
      const fault = 'Give --jwks for a trust that was added with --jwks, and for no other.';
      throw jwks === undefined ? new CommandFailed(fault) : new WrongUsage(fault);
    }
    const sets = new Map<string, ClientKey[]>();
    for (const trust of chosen) sets.set(trust.id, await keysOf(operator, jwks, trust.source));
    return trusts.refresh(clientId, sets, thumbprintsOf, endToken);
  };
  await listed(clientId, options, work, id);
}

/** Shows the trusts that `work` returns: null for an unknown client id, undefined where the trust is not there. */
async function listed(
  clientId: string,
  options: CommonOptions,
  work: (trusts: Trusts, operator: Operator) => Promise<readonly ListedTrust[] | null | undefined>,
  id?: string,
): Promise<void> {
  const trusts = await onApplication(clientId, (operator, { Trusts }) => work(operator.get(Trusts), operator));
  if (trusts === undefined) throw new CommandFailed(id === undefined ? NOTHING_TO_FETCH : unknownTrust(clientId, id));
  const items = trusts.map(({ given: _given, source: _source, failure, ...trust }) => ({
    ...trust,
    ...(failure === null ? {} : { failure }),
  }));
  const text = (): Promise<string> =>
    table(
      ['id', 'state', 'issuer', 'subject', 'audience', 'keys fetched', 'last used'],
      items.map((one) => [one.id, one.state, one.issuer, one.subject, one.audience, one.fetchedAt, one.lastUsedAt]),
    );
  await print({ json: { items }, text }, options);
}

const NOTHING_TO_FETCH =
  'The application has no trust whose keys are fetched. To replace a given set, add the ID of its trust and --jwks.';

const unknownTrust = (clientId: string, id: string): string =>
  `The application has no trust "${id}". Run "applications trust list ${clientId}".`;

function parseAudience(value: string): string {
  if (value.length >= 1 && value.length <= 1000 && !/\p{Cc}/u.test(value)) return value;
  throw new InvalidArgumentError('An audience has 1 to 1000 characters.');
}
