// The tested client generators: the tools they need, and commands that generate, compile and call a client.
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './tools.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
export const CONTRACT = join(root, 'docs/contract/openapi.json');
const programFile = (name) => join(here, 'programs', name);

const openapiGenerator = (tools, name, directory, ...options) => [
  ...[tools.java.path, '-jar', tools.openapiGenerator.path, 'generate', '-g', name, '-i', CONTRACT, '-o', directory],
  ...options,
];

/**
 * `needs` names the tools. `generate` and `compile` return commands for the given tools and directory. `call` returns
 * the command that calls the API; origin, client id and secret are appended.
 */
export const CLIENTS = {
  java: {
    needs: ['java', 'openapiGenerator', 'mvn'],
    generate: (tools, directory) => [openapiGenerator(tools, 'java', directory, '--library', 'native')],
    compile: (tools) => [[tools.mvn.path, '--quiet', '--batch-mode', 'compile']],
  },
  kotlin: {
    needs: ['java', 'openapiGenerator', 'mvn'],
    generate: (tools, directory) => [openapiGenerator(tools, 'kotlin', directory)],
    compile: (tools, directory) => {
      // The generator produces a Gradle build, but Gradle is in no registry.
      copyFileSync(programFile('kotlin-pom.xml'), join(directory, 'pom.xml'));
      return [[tools.mvn.path, '--quiet', '--batch-mode', 'compile']];
    },
  },
  rust: {
    needs: ['java', 'openapiGenerator', 'cargo'],
    generate: (tools, directory) => [openapiGenerator(tools, 'rust', directory)],
    compile: (tools) => [[tools.cargo.path, 'check', '--quiet']],
  },
  'typescript-fetch': {
    needs: ['java', 'openapiGenerator'],
    generate: (tools, directory) => [openapiGenerator(tools, 'typescript-fetch', directory)],
    compile: (_tools, directory) => {
      writeFileSync(join(directory, 'package.json'), '{"type": "commonjs"}');
      const options = [
        '--strict',
        '--target',
        'es2022',
        '--module',
        'node16',
        '--lib',
        'es2022,dom',
        '--outDir',
        'built',
      ];
      return [[process.execPath, join(root, 'node_modules/typescript/bin/tsc'), ...options, 'index.ts']];
    },
    call: (_tools, directory) => [process.execPath, programFile('call.mjs'), join(directory, 'built/index.js')],
  },
  python: {
    needs: ['java', 'openapiGenerator', 'python3', 'openapiPythonClient'],
    generate: (tools, directory) => [openapiGenerator(tools, 'python', directory)],
    compile: () => [
      [PYTHON, '-m', 'compileall', '-q', 'openapi_client'],
      [PYTHON, programFile('import_all.py'), 'openapi_client'],
    ],
  },
  'oapi-codegen': {
    needs: ['go', 'oapiCodegen'],
    generate: (tools, directory) => {
      mkdirSync(join(directory, 'api'), { recursive: true });
      cpSync(programFile('call.go.txt'), join(directory, 'main.go'));
      return [[tools.oapiCodegen.path, '-package', 'api', '-generate', 'types,client', '-o', 'api/api.go', CONTRACT]];
    },
    compile: ({ go }) => [
      [go.path, 'mod', 'init', 'check'],
      [go.path, 'mod', 'tidy'],
      [go.path, 'vet', './...'],
      [go.path, 'build', '-o', 'call', '.'],
    ],
    call: (_tools, directory) => [join(directory, 'call')],
  },
  'openapi-python-client': {
    needs: ['python3', 'openapiPythonClient'],
    generate: (tools) => [
      [tools.openapiPythonClient.path, 'generate', '--path', CONTRACT, '--output-path', 'client', '--meta', 'none'],
    ],
    compile: () => [
      [PYTHON, '-m', 'compileall', '-q', 'client'],
      [PYTHON, programFile('import_all.py'), 'client'],
    ],
    call: () => [PYTHON, programFile('call.py')],
  },
};
