// Finds the tools that the connectors are made for, and installs those of PyPI.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Tested versions. The pages of docs/connectors name those of connectors. */
const VERSIONS = {
  dlt: '1.31.0',
  airbyte: '7.39.1',
  authlib: '1.9.10',
  httpx: '0.28.1',
  requests: '1.8.0',
  schemathesis: '4.32.5',
};

/** Virtual environments are kept here between runs. */
export const TOOLS_DIRECTORY = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'compliance-public-api-connectors',
);

const INSTALL_LIMIT_MS = 600_000;

const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of a program, or undefined. */
export const findProgram = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(isProgram);

/** Packages of PyPI in a virtual environment of their own, with the path of one of their programs. */
function pythonPackage(name, requirement, program) {
  const directory = join(TOOLS_DIRECTORY, requirement.replace(/\W+/g, '-'));
  const path = join(directory, 'bin', program);
  const commands = [
    ['python3', '-m', 'venv', directory],
    [join(directory, 'bin/pip'), 'install', '--quiet', ...requirement.split(' ')],
  ];
  return { name, path: existsSync(path) ? path : undefined, commands };
}

/** Tools by the name of the connector or test, with an undefined path when missing. */
export const findTools = () => ({
  dlt: pythonPackage(`dlt ${VERSIONS.dlt}`, `dlt[duckdb]==${VERSIONS.dlt}`, 'dlt'),
  airbyte: pythonPackage(
    `airbyte-cdk ${VERSIONS.airbyte}`,
    `airbyte-cdk==${VERSIONS.airbyte}`,
    'source-declarative-manifest',
  ),
  authlib: pythonPackage(
    `Authlib ${VERSIONS.authlib}`,
    `authlib==${VERSIONS.authlib} httpx==${VERSIONS.httpx} requests_oauth2client==${VERSIONS.requests}`,
    'httpx',
  ),
  schemathesis: pythonPackage(
    `Schemathesis ${VERSIONS.schemathesis}`,
    `schemathesis==${VERSIONS.schemathesis}`,
    'schemathesis',
  ),
  elastic: {
    name: 'mito',
    path: findProgram('mito'),
    hint: 'put the program of https://github.com/elastic/mito on the PATH',
  },
});

/** Prints which tools there are, and how to get the others. */
export function tellTools(tools, script = 'test:connectors') {
  for (const { name, path, hint, commands } of tools) {
    const how = hint ?? commands.map((command) => command.join(' ')).join(' && ');
    console.log(path ? `found    ${name}: ${path}` : `missing  ${name}: ${how}`);
  }
  if (tools.some(({ path, commands }) => !path && commands)) {
    console.log(`Install missing packages: npm run ${script} -- --install`);
  }
}

/** Installs a missing package. A failure is reported, and the tool stays missing. */
export function install({ name, path, commands = [] }) {
  if (path || commands.length === 0) return;
  console.log(`installing ${name}`);
  mkdirSync(TOOLS_DIRECTORY, { recursive: true });
  for (const [program, ...words] of commands) {
    const { status, error, stderr } = spawnSync(program, words, { encoding: 'utf8', timeout: INSTALL_LIMIT_MS });
    if (status === 0) continue;
    console.log(`${program} ${words.join(' ')}: ${error?.message ?? stderr.trim().split('\n').slice(-5).join('\n')}`);
    return;
  }
}
