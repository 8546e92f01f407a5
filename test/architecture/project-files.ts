import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(__dirname, '../..');

/** Directories to skip in a source archive without git. */
const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.local', 'coverage', 'test-results']);

/** Returns every file that is in the repository or would be in the next commit. */
export function projectFiles(): string[] {
  const git = spawnSync('git', ['-c', `safe.directory=${root}`, 'ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  // A source archive has no repository, and a minimal machine may have no git.
  const listed = git.status === 0 ? git.stdout.split('\0').filter((file) => file !== '') : [];
  if (listed.length === 0) return filesBelow('');
  return [...new Set(listed)].filter((file) => existsSync(join(root, file))).sort();
}

function filesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = directory ? `${directory}/${entry.name}` : entry.name;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}
