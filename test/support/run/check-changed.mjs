// npm run check
import { spawnSync } from 'node:child_process';
import { importRules, runInOrder, types } from './checks.mjs';
import { node, root } from './command.mjs';

const changed = changedFiles();
const code = changed.filter((file) => /\.(ts|mjs|cjs|js)$/.test(file));

const eslint = node('eslint/bin/eslint.js', '--max-warnings', '0', '--no-warn-ignored', ...code);
const prettier = node('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '--ignore-unknown', ...changed);

console.log(`${changed.length} changed ${changed.length === 1 ? 'file' : 'files'}`);
const outcomes = await Promise.all([
  runInOrder([types]),
  runInOrder([
    // All files: who imports a changed one is known only then.
    ...(code.length > 0 ? [importRules] : []),
    ...(changed.length > 0 ? [{ name: 'layout', commands: [prettier] }] : []),
    ...(code.length > 0 ? [{ name: 'lint', commands: [eslint] }] : []),
  ]),
]);
process.exitCode = outcomes.some(({ failed }) => failed.length > 0) ? 1 : 0;

/** Files that differ from the branch main, committed or not, and new files. */
function changedFiles() {
  const base = git('merge-base', 'HEAD', 'main')[0] ?? 'HEAD';
  const tracked = git('diff', '--name-only', '--diff-filter=d', base);
  return [...new Set([...tracked, ...git('ls-files', '--others', '--exclude-standard')])];
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : [];
}
