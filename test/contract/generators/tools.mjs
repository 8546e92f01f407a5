// Finds the tools that generate and compile clients, and installs missing ones.
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Tested versions. The generated code itself names its dependencies, except for Kotlin. */
export const VERSIONS = {
  openapiGenerator: '7.25.0',
  oapiCodegen: 'v2.8.2',
  openapiPythonClient: '0.29.1',
};

/** Generators are kept here between runs. */
export const TOOLS_DIRECTORY = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'compliance-public-api-generators',
);

const { openapiGenerator, oapiCodegen, openapiPythonClient } = VERSIONS;
const venv = join(TOOLS_DIRECTORY, `openapi-python-client-${openapiPythonClient}`);
const goDirectory = join(TOOLS_DIRECTORY, `oapi-codegen-${oapiCodegen}`);
const jar = join(TOOLS_DIRECTORY, `openapi-generator-cli-${openapiGenerator}.jar`);

const onPath = (program) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

const program = (name, hint) => ({ name, path: onPath(name), hint });
const generator = (name, path, commands) => ({ name, path: existsSync(path) ? path : undefined, commands });

/** Tools by name, with an undefined path when missing. Generators have installation commands. */
export const findTools = () => ({
  java: program('java', 'apt-get install default-jdk-headless'),
  mvn: program('mvn', 'apt-get install maven'),
  cargo: program('cargo', 'https://rustup.rs'),
  go: program('go', 'https://go.dev/dl'),
  python3: program('python3', 'apt-get install python3-venv'),
  openapiGenerator: generator(`openapi-generator-cli ${openapiGenerator}`, jar, [
    [
      ...['mvn', '--quiet', '--batch-mode', 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'],
      `-Dartifact=org.openapitools:openapi-generator-cli:${openapiGenerator}`,
      `-DoutputDirectory=${TOOLS_DIRECTORY}`,
    ],
  ]),
  oapiCodegen: generator(`oapi-codegen ${oapiCodegen}`, join(goDirectory, 'oapi-codegen'), [
    [
      ...['env', `GOBIN=${goDirectory}`],
      ...['go', 'install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegen}`],
    ],
  ]),
  // Both Python clients share an environment. The packages after the first are imported by the generated code.
  openapiPythonClient: generator(
    `openapi-python-client ${openapiPythonClient}`,
    join(venv, 'bin/openapi-python-client'),
    [
      ['python3', '-m', 'venv', venv],
      [
        ...[join(venv, 'bin/pip'), 'install', '--quiet', `openapi-python-client==${openapiPythonClient}`],
        ...['httpx', 'attrs', 'python-dateutil', 'pydantic>=2', 'urllib3>=2', 'typing-extensions', 'lazy-imports'],
      ],
    ],
  ),
});

export const PYTHON = join(venv, 'bin/python');
