import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresFault, OWN_DATABASE_ADVICE } from '../embedded-postgres-fault';

/** The user that Postgres runs as when we are root. Postgres refuses to run as root. */
export interface ServiceAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** Returns `postgres` if it exists, else `nobody`. Never creates a user. */
export function findServiceAccount(passwd = readPasswd()): ServiceAccount {
  const accounts = parsePasswd(passwd);
  const account = ['postgres', 'nobody'].map((name) => accounts.find((one) => one.name === name)).find(Boolean);
  if (account !== undefined) return account;
  throw new EmbeddedPostgresFault(
    `Postgres does not run as root, and there is no user "postgres" or "nobody" to run it as. Start as an ordinary user, ${OWN_DATABASE_ADVICE}.`,
  );
}

/** Returns the owner of existing data, such as a data directory that an ordinary user created before root took over. */
export function accountOwning(stats: Stats): ServiceAccount {
  const name = parsePasswd(readPasswd()).find((account) => account.uid === stats.uid)?.name;
  return { name: name ?? `uid ${stats.uid}`, uid: stats.uid, gid: stats.gid };
}

/** Tells whether the account can reach the path, by the permission bits of every directory above it. */
export function canReach(path: string, account: ServiceAccount): boolean {
  for (let place = realpathSync(path); ; place = dirname(place)) {
    if (!mayPass(statSync(place), account)) return false;
    if (place === dirname(place)) return true;
  }
}

function mayPass({ mode, uid, gid }: Stats, account: ServiceAccount): boolean {
  if (uid === account.uid) return (mode & 0o100) !== 0;
  if (gid === account.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

function parsePasswd(passwd: string): ServiceAccount[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const ids = [Number(uid), Number(gid)] as const;
    return name && uid && gid && ids.every((id) => Number.isInteger(id) && id > 0)
      ? [{ name, uid: ids[0], gid: ids[1] }]
      : [];
  });
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
