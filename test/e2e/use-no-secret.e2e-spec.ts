/**
 * @needs curl
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { readIssuerKeys } from '../../libs/auth/src/jwt/public-jwks';
import { shownFile } from '../support/doc-examples';
import { type TestOperator, openOperator } from '../support/operator';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { StandInIssuer } from '../support/stand-in-issuer';
import { type TestApp, startApp } from '../support/start-app';

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run: string }[] }>>;
}

interface Pod {
  readonly containers: readonly { readonly command: string[]; readonly args: string[] }[];
  readonly volumes: readonly {
    readonly projected: {
      readonly sources: readonly { readonly serviceAccountToken: { readonly audience: string } }[];
    };
  }[];
}

interface CronJob {
  readonly kind: string;
  readonly spec: { readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: Pod } } } };
}

/** The documents of a YAML file of the guide. */
const parse = <Document>(name: string) =>
  parseAllDocuments(shownFile('use-no-secret.md', name)).map((one) => one.toJS() as Document) as [Document];

describe('The whole files of "Use no secret"', () => {
  /** At the address that is the API's own. */
  let listener: Server;
  let base: string;
  let app: TestApp;
  let operator: TestOperator;
  let issuer: StandInIssuer;
  let clientId: string;
  let directory: string;
  beforeAll(async () => {
    demandProgram('curl');
    listener = createServer((from) => {
      const to = connect(app.port, '127.0.0.1');
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      to.on('error', () => from.destroy()).on('close', () => from.destroy());
      from.pipe(to).pipe(from);
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    base = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    app = await startApp({ BASE_URL: base });
    operator = await openOperator(app);
    issuer = await StandInIssuer.start();
    directory = mkdtempSync(join(tmpdir(), 'no-secret-'));
    const workspace = await app.arrange.aWorkspace();
    ({ clientId } = await app.arrange.anApplication(workspace, ['inventory:read']));
    await app.arrange.anAsset(workspace, { name: 'printer' });
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await issuer.stop();
    await operator.close();
    await app.stop();
    listener.close();
  });

  const trust = async (subject: string) => {
    const keys = await readIssuerKeys(JSON.stringify({ keys: issuer.keys }));
    const given = { issuer: issuer.url, subject, audience: null, insecure: false, given: true, keys };
    await operator.trusts.add(clientId, given);
  };
  const run = async (shell: string, text: string, environment: object): Promise<string> => {
    const env = { PATH: searchPath(), BASE_URL: base, CLIENT_ID: clientId, ...environment };
    return (await promisify(execFile)(shell, ['-e', '-c', text], { cwd: directory, env })).stdout;
  };

  it('get tokens in GitHub Actions', async () => {
    const [workflow] = parse<Workflow>('inventory.yml');
    expect(workflow.permissions).toEqual({ 'id-token': 'write' });
    await trust('repo:acme/app:ref:refs/heads/main');
    const path = `/actions?api-version=2.0&audience=${base}`;
    issuer.answers.set(path, ({ headers }, response) => {
      const sub = headers.authorization === 'Bearer of-the-job' ? 'repo:acme/app:ref:refs/heads/main' : 'nobody';
      void issuer.token({ sub, aud: base }).then((value) => response.end(JSON.stringify({ count: 1, value })));
    });
    const runner = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/actions?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
      RUNNER_TEMP: directory,
    };
    for (const step of workflow.jobs['inventory']?.steps ?? []) await run('bash', step.run, runner);
    expect(readFileSync(join(directory, 'assets.json'), 'utf8')).toContain('"printer"');
  });

  it('get tokens in Kubernetes', async () => {
    const pod = parse<CronJob>('cronjob.yaml').find(({ kind }) => kind === 'CronJob')?.spec.jobTemplate.spec.template
      .spec;
    expect(pod?.volumes[0]?.projected.sources[0]?.serviceAccountToken.audience).toBe('https://api.example.com');
    const sub = 'system:serviceaccount:inventory:reader';
    await trust(sub);
    const file = join(directory, 'token-of-pod');
    writeFileSync(file, await issuer.token({ sub, aud: [base] }, { typ: undefined }));
    const [container] = pod?.containers ?? [];
    expect(container?.command).toEqual(['sh', '-ec']);
    expect(await run('sh', container?.args[0] ?? '', { TOKEN_FILE: file })).toContain('"printer"');
  });
});
