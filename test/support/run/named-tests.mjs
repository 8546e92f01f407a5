// npm run t -- NAME…
import { CannotBuild, bringUpToDate } from '../../../apps/local/build.mjs';

const HELP = `Usage: npm run t -- NAME… [options of jest]

Runs the test files whose path holds a NAME, with the services and the build that they need. NAME is a regular
expression. Test files of faults run when a NAME holds "fault".
Options of jest have the form --option=value, such as --testNamePattern=REGEXP or --watch.`;

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('-'));
const projects = names.some((name) => name.includes('fault')) ? ['faults'] : ['unit', 'services'];

if (names.length === 0) {
  console.error(HELP);
  process.exit(2);
}
try {
  bringUpToDate(() => console.error('Building…'));
} catch (error) {
  if (!(error instanceof CannotBuild)) throw error;
  // Most tests need no build. They say themselves which file they cannot read.
  console.error(error.message);
}
const options = words.filter((word) => word.startsWith('-'));
process.argv.splice(2, Infinity, ...options, '--selectProjects', ...projects, '--testPathPatterns', ...names);
await import('./jest.mjs');
