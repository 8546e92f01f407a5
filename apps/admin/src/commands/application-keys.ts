import { Command } from 'commander';
import type { ClientKeys, ListedKey } from '#libs/auth/operators';
import { CommandFailed, WrongUsage } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, forApplication, readText, withCommonOptions } from '../options';
import { print, table } from '../output';
import { onApplication } from './application-changes';

/** Public keys by which an application proves itself instead of by a secret. */
export function applicationKeysCommand(): Command {
  const group = new Command('keys').description('public keys by which an application proves itself without a secret');
  forApplication(withWriteOptions(group.command('add')))
    .description('add a public key, or each key of a set; it is accepted from the next token request on')
    .requiredOption('--jwk <file>', 'a JWK or JWK set of public keys: RSA, EC P-256 or P-384, Ed25519')
    .action(add);
  forApplication(withCommonOptions(group.command('list')))
    .description('list the keys of an application, oldest first')
    .action((clientId: string, options: CommonOptions) => listed(clientId, options, (keys) => keys.list(clientId)));
  forApplication(withWriteOptions(group.command('remove')))
    .description('remove a key and end the live token')
    .argument('<kid>', 'id of the key, as list shows it; write -- before one that begins with a hyphen')
    .action(remove);
  return group;
}

async function add(clientId: string, { jwk, ...options }: CommonOptions & { readonly jwk: string }): Promise<void> {
  const { readClientKeys } = await import('#libs/auth/operators');
  const added = await readClientKeys(await readText(jwk)).catch((error: Error) => {
    if (error.name === 'ClientKeyRefused') throw new WrongUsage(`${jwk}: ${error.message}`);
    throw error;
  });
  await listed(clientId, options, (keys) => keys.add(clientId, added));
}

async function remove(clientId: string, kid: string, options: CommonOptions): Promise<void> {
  await confirm(`Remove the key ${kid}? The live token of ${clientId} ends.`, options);
  await listed(clientId, options, async (keys) => {
    const left = await keys.remove(clientId, kid);
    if (left !== undefined) return left;
    throw new CommandFailed(`The application has no key "${kid}". Run "applications keys list ${clientId}".`);
  });
}

async function listed(
  clientId: string,
  options: CommonOptions,
  work: (keys: ClientKeys) => Promise<readonly ListedKey[] | null>,
): Promise<void> {
  const items = await onApplication(clientId, (operator, { ClientKeys }) => work(operator.get(ClientKeys)));
  const text = (): Promise<string> =>
    table(
      ['kid', 'algorithms', 'created', 'last used'],
      items.map(({ kid, algorithms, createdAt, lastUsedAt }) => [kid, algorithms, createdAt, lastUsedAt]),
    );
  await print({ json: { items }, text }, options);
}
