// The programs of docs/use-no-secret.md, which sign with a key of their own.
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './commands.mjs';
import { writePageFiles } from './page-files.mjs';

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules');
const OLD_AUDIENCE = join(dirname(fileURLToPath(import.meta.url)), 'old_audience.py');
const GO_MODULES = ['golang.org/x/oauth2@v0.38.0', 'github.com/golang-jwt/jwt/v5@v5.3.1'];

/** Runs each program of the page, and returns their names. `python` has Authlib, `go` may be null. */
export async function runWithoutSecret(workspace, python, go) {
  const cwd = join(workspace.directory, 'no-secret');
  mkdirSync(cwd);
  writePageFiles('use-no-secret.md', cwd);
  symlinkSync(MODULES, join(cwd, 'node_modules'));
  await run(['sh', '-e', 'key.sh'], { cwd });
  const { id } = await workspace.application('no-secret', ['inventory:read']);
  await workspace.admin('applications', 'keys', 'add', id, '--jwk', join(cwd, 'key.jwk.json'));
  await workspace.admin('applications', 'remove-secret', id, '--yes');
  if (go)
    for (const words of [
      ['mod', 'init', 'example'],
      ['get', ...GO_MODULES],
    ])
      await run([go, ...words], { cwd });

  const programs = {
    sh: ['sh', '-e', 'get_token.sh'],
    node: [process.execPath, 'get_token.mjs'],
    python: [python, 'get_token.py'],
    ...(go ? { go: [go, 'run', 'get_token.go'] } : {}),
  };
  const environment = { BASE_URL: workspace.origin, CLIENT_ID: id };
  for (const [name, command] of Object.entries(programs)) {
    const token = (await run(command, { cwd, environment })).trim();
    const response = await fetch(`${workspace.origin}/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
    if (response.status !== 200) throw new Error(`${name}: ${await response.text()}`);
  }
  const words = ['--workspace', 'demo', '--name', 'old-audience', '--scope', 'inventory:read', '--old-audience'];
  const old = await workspace.admin('applications', 'create', ...words, '--no-secret');
  await workspace.admin('applications', 'keys', 'add', old.client_id, '--jwk', join(cwd, 'key.jwk.json'));
  await run([python, OLD_AUDIENCE], { cwd, environment: { ...environment, OLD_CLIENT_ID: old.client_id } });
  return [...Object.keys(programs), 'requests_oauth2client'].join(', ');
}
