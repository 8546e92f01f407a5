import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';
import { isOperatorName } from '#libs/platform/config';
import { MOST_BYTES, MOST_FILES } from '../../libs/console/src/system/upload-files.system';
import { type Tree, at, readYaml, textOf } from './deployment-files';
import { root } from './project-files';

const yaml = readYaml();
const under = (folder: string): [string, Tree][] =>
  Object.entries(yaml)
    .filter(([path]) => path.startsWith(`docker/kubernetes/${folder}`) && !path.endsWith('kustomization.yaml'))
    .flatMap(([path, documents]) => documents.map((document): [string, Tree] => [path, document]));
const text = (tree: Tree, path: string): string => at(tree, path).map(String).join();

/** Settings of one job of the operators alone, by its container. */
const OWN_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  admin: ['CONSOLE_OIDC_ISSUER', 'CONSOLE_OIDC_CLIENT_ID', 'CONSOLE_OIDC_SECRET_FILE'],
  import: ['OPERATOR_NAME'],
};

/** Returns the differences between manifests and the types of Kubernetes, as the compiler reports them. */
function faultsOf(manifests: readonly Tree[]): string[] {
  const file = join(root, 'manifests.ts');
  const source = manifests.map((manifest, place) => {
    const [group = '', version = ''] = text(manifest, 'apiVersion').includes('/')
      ? text(manifest, 'apiVersion').split('/')
      : ['core', text(manifest, 'apiVersion')];
    const name = `kubernetes-types/${group.replace(/\..*/, '')}/${version}`;
    return `export const m${place}: import('${name}').${text(manifest, 'kind')} = ${JSON.stringify(manifest)};`;
  });
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, types: [], lib: ['lib.es2022.d.ts'], target: ts.ScriptTarget.ES2022 },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };
  const host = ts.createCompilerHost(options);
  host.readFile = (path) => (path === file ? source.join('\n') : ts.sys.readFile(path));
  host.fileExists = (path) => path === file || ts.sys.fileExists(path);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('The Kubernetes manifests', () => {
  const own = under('')
    .map(([, manifest]) => manifest)
    .filter((manifest) => !text(manifest, 'apiVersion').startsWith('monitoring.coreos.com/'));

  it('have the members and types of Kubernetes', () => {
    expect(own.length).toBeGreaterThan(20);
    expect(faultsOf(own)).toEqual([]);
  });

  it.each([
    ['a member that does not exist', { spec: { schedules: '0 1 * * *' } }],
    ['a member of another type', { spec: { schedule: 1 } }],
    ['no required member', { spec: { schedule: '0 1 * * *' } }],
  ])('would not pass with %s', (_what, members) => {
    expect(faultsOf([{ apiVersion: 'batch/v1', kind: 'CronJob', ...members }])).toHaveLength(1);
  });

  it('let the API reach DNS, Postgres, Redis, the trace collector and issuers', () => {
    const named = own.filter((one) => text(one, 'metadata.name') === 'compliance-api');
    const [policy] = named.filter((one) => text(one, 'kind') === 'NetworkPolicy');
    expect(at(policy, 'spec.egress.*.ports.*.port')).toEqual([53, 53, 5432, 6379, 4318, 443]);
  });
});

describe('The operators’ jobs', () => {
  const manifests = under('operators/').map(([, manifest]) => manifest);
  const jobs = manifests.filter((one) => text(one, 'kind').endsWith('Job'));
  const pods = [
    ...jobs.flatMap((job) => at(job, 'spec.template')),
    ...jobs.flatMap((job) => at(job, 'spec.jobTemplate.spec.template')),
  ];

  it('have both roles of the database, Redis and the keys', () => {
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      const secrets = at(pod, 'spec.volumes.*.secret.secretName').map(String);
      expect(secrets.sort()).toEqual([
        ...['compliance-database', 'compliance-keys', 'compliance-migration', 'compliance-redis'],
        'compliance-signing-keys',
      ]);
      const own = OWN_SETTINGS[text(pod, 'spec.containers.*.name')] ?? [];
      expect(at(pod, 'spec.containers.*.env.*.name')).toEqual(['MIGRATION_DATABASE_URL_FILE', ...own]);
    }
  });

  it('name who imports each night', () => {
    const named = pods
      .flatMap((pod) => at(pod, 'spec.containers.*.env.*'))
      .filter((one) => text(one, 'name') === 'OPERATOR_NAME');
    expect(named.map((one) => isOperatorName(text(one, 'value')))).toEqual([true]);
  });

  it('keep archives of the audit on a volume that outlives the pod', () => {
    const [pod] = pods.filter((one) => at(one, 'spec.containers.*.name')[0] === 'admin');
    const [claim] = manifests.filter((one) => text(one, 'kind') === 'PersistentVolumeClaim');
    const [volume] = at(pod, 'spec.volumes.*').filter((one) => at(one, 'persistentVolumeClaim').length > 0);
    const [mount] = at(pod, 'spec.containers.*.volumeMounts.*').filter(
      (one) => text(one as Tree, 'name') === text(volume as Tree, 'name'),
    );

    expect(at(volume, 'persistentVolumeClaim.claimName')).toEqual(at(claim, 'metadata.name'));
    expect(mount).toEqual({ name: 'archive', mountPath: '/archive' });
  });

  it('reach Postgres, Redis and issuers by the network policy, and nothing reaches them', () => {
    const policy = under('network-policy').find(([, one]) => text(one, 'metadata.name') === 'compliance-admin')?.[1];
    const [label] = at(policy, 'spec.podSelector.matchLabels');
    expect(pods.flatMap((pod) => at(pod, 'metadata.labels'))).toEqual(pods.map(() => label));
    expect(at(policy, 'spec.egress.*.ports.*.port')).toEqual([53, 53, 5432, 6379, 443]);
    expect(at(policy, 'spec.policyTypes')).toEqual([['Ingress', 'Egress']]);
    expect(at(policy, 'spec.ingress')).toEqual([]);
  });
});

describe('The manifests for Prometheus', () => {
  const ofKind = (kind: string): Tree[] =>
    under('monitoring/').flatMap(([, manifest]) => (text(manifest, 'kind') === kind ? [manifest] : []));
  const monitors = ofKind('ServiceMonitor');

  it('have the alerts of docker/prometheus/alerts.yml', () => {
    const [groups] = at(yaml['docker/prometheus/alerts.yml']?.[0], 'groups');
    expect(at(ofKind('PrometheusRule')[0], 'spec.groups')).toEqual([groups]);
  });

  it.each([
    ['compliance-public-api', ''],
    ['compliance-console', 'console/'],
  ])('select the management service alone, by the job that the alerts name: %s', (job, folder) => {
    const monitor = monitors.find((one) => text(one, 'spec.endpoints.*.relabelings.*.replacement') === job);
    const [wanted = {}] = at(monitor, 'spec.selector.matchLabels');
    const isSelected = (service: Tree): boolean => {
      const [labels = {}] = at(service, 'metadata.labels');
      return isDeepStrictEqual({ ...(labels as object), ...(wanted as object) }, labels);
    };
    const selected = ['', 'console/']
      .flatMap((one) => under(`${one}service.yaml`))
      .filter(([, service]) => isSelected(service));
    expect(selected.map(([path]) => path)).toEqual([`docker/kubernetes/${folder}service.yaml`]);
    expect(selected.flatMap(([, service]) => at(service, 'spec.ports.*.name'))).toEqual(
      at(monitor, 'spec.endpoints.*.port'),
    );
  });

  it('name the jobs of prometheus.yml and of docs/observability.md', () => {
    const jobs = at(yaml['docker/prometheus/prometheus.yml']?.[0], 'scrape_configs.*.job_name');
    const page = textOf('docs/observability.md');
    expect(monitors.flatMap((monitor) => at(monitor, 'spec.endpoints.*.relabelings.*.replacement'))).toEqual(jobs);
    expect([...page.matchAll(/^ +- job_name: (\S+)$/gm)].map(([, name]) => name)).toEqual(jobs);
  });
});

describe('The example of an ingress', () => {
  it.each(['', 'console/'])('leads to the port for clients of the service: %sservice.yaml', (folder) => {
    const ingress = under(`${folder}ingress.example.yaml`)[0]?.[1];
    const [service] = under(`${folder}service.yaml`).map(([, one]) => one);
    const backend = at(ingress, 'spec.rules.*.http.paths.*.backend.service');
    expect(backend.flatMap((one) => at(one, 'name'))).toEqual(at(service, 'metadata.name'));
    expect(backend.flatMap((one) => at(one, 'port.name'))).toEqual(at(service, 'spec.ports.*.name'));
  });

  it('of the console leads a browser to the same instance again, with the cookie of HAProxy', () => {
    const [annotations = {}] = at(under('console/ingress.example.yaml')[0]?.[1], 'metadata.annotations');
    expect(Object.values(annotations as object).filter((value) => value === 'console_instance')).toHaveLength(3);
  });
});

describe('The pod of the console', () => {
  it('has room for all uploads and their failed records', () => {
    const [deployment] = under('console/deployment.yaml').map(([, one]) => one);
    const volume = at(deployment, 'spec.template.spec.volumes.*').find((one) => at(one, 'name')[0] === 'tmp');
    const [, gibibytes] = /^(\d+)Gi$/.exec(text(volume as Tree, 'emptyDir.sizeLimit')) ?? [];

    expect(Number(gibibytes) * 2 ** 30).toBeGreaterThan(2 * MOST_FILES * MOST_BYTES);
  });
});
