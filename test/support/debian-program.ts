import { aptMayInstall, installDebianPackage, onPath } from './debian-package';

/**
 * Makes sure that this machine has a program: on the PATH, else on Debian as root from its package of this name, which is
 * said on stderr. Throws with what to do when there is no way: a test that needs it is never left out.
 */
export function demandProgram(program: string, debianPackage: string): void {
  if (onPath(program) !== null) return;
  const missing = `The tests need ${program} and found none. Install it (Debian: apt-get install ${debianPackage}).`;
  if (!aptMayInstall()) throw new Error(missing);
  process.stderr.write(
    `No ${program} on this machine: installing Debian’s ${debianPackage} by apt-get, for the tests.\n`,
  );
  installDebianPackage(debianPackage, missing);
  if (onPath(program) === null) throw new Error(missing);
}
