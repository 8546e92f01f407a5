import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from '../processes/process-identity';

/**
 * Registers this process as a user of the server by a file `<pid>.<number>`, one for each opening. Requires the lock,
 * like every function here.
 */
export function addServerUser(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const lease = join(directory, `${process.pid}.${randomBytes(6).toString('hex')}`);
  writeFileSync(lease, formatIdentity(ownIdentity()), { flag: 'wx' });
  return lease;
}

export function removeServerUser(lease: string): void {
  rmSync(lease, { force: true });
}

/** Tells whether a living process uses the server. Removes the files of dead processes. */
export function hasLiveUsers(directory: string): boolean {
  if (!existsSync(directory)) return false;
  let live = false;
  for (const name of readdirSync(directory)) {
    const lease = join(directory, name);
    const user = parseIdentity(readFileSync(lease, 'utf8'));
    if (user !== null && isAlive(user)) live = true;
    else rmSync(lease, { force: true });
  }
  return live;
}
