import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { loadSettings, settingsSchema } from '#libs/platform/config';
import { NOTICE_MS } from '#libs/platform/process';
import { loadConsoleSettings } from '../../apps/console/src/console-settings';
import {
  type Tree,
  at,
  deploymentFiles,
  environmentOf,
  everywhere,
  metricsIn,
  readYaml,
  textOf,
} from './deployment-files';
import { root } from './project-files';

const yaml = readYaml();
const compose = yaml['docker/compose.yaml']?.[0] as Tree;
const kubernetes = Object.entries(yaml)
  .filter(([path]) => path.startsWith('docker/kubernetes/') && !path.includes('kustomization'))
  .flatMap(([, documents]) => documents);
const ofKind = (kind: string): Tree[] => kubernetes.filter((one) => at(one, 'kind')[0] === kind);
const pods = [
  ...[...ofKind('Deployment'), ...ofKind('Job')].flatMap((one) => at(one, 'spec.template.spec')),
  ...ofKind('CronJob').flatMap((one) => at(one, 'spec.jobTemplate.spec.template.spec')),
];
const secretsOfExample = ['', 'console/'].flatMap(
  (folder) => yaml[`docker/kubernetes/${folder}secrets.example.yaml`] ?? [],
);
const settingsNamed = (name: string) =>
  ofKind('ConfigMap')
    .filter((one) => at(one, 'metadata.name')[0] === name)
    .flatMap((one) => at(one, 'data'))[0] as Record<string, string>;

const isSetting = (name: string): boolean =>
  name in settingsSchema.shape ||
  [...['DATABASE_URL_FILE', 'MIGRATION_DATABASE_URL_FILE', 'REDIS_URL_FILE'], 'CONSOLE_DATABASE_URL_FILE'].includes(
    name,
  );
/** The settings as an instance in the image would read them, with all secret files present. */
function settingsFrom(environment: Readonly<Record<string, string>>): ReturnType<typeof loadSettings> {
  return loadSettings(inTheImage(environment));
}
function inTheImage(environment: Readonly<Record<string, string>>): Record<string, string> {
  const urls = {
    ...{ DATABASE_URL_FILE: 'postgres://a@b/c', CONSOLE_DATABASE_URL_FILE: 'postgres://a@b/c' },
    REDIS_URL_FILE: 'redis://a',
  };
  const values = Object.entries(environment).map(([name, value]) =>
    name in urls ? [name.replace(/_FILE$/, ''), urls[name as keyof typeof urls]] : [name, value],
  );
  const given = Object.fromEntries(values) as Record<string, string>;
  return { NODE_ENV: 'production', HOST: '0.0.0.0', CONSOLE_HOST: '0.0.0.0', ...given };
}

describe('The files of a host', () => {
  const example = environmentOf(textOf('docker/production.env.example'));
  const host = textOf('docker/haproxy/host.cfg');
  const unit = textOf('docker/systemd/compliance-api@.service');

  it('name every setting that production needs, and only settings that exist', () => {
    expect(Object.keys(example).filter((name) => !isSetting(name))).toEqual([]);
    const settings = loadSettings(example);
    expect([settings.production, settings.trustedProxies]).toEqual([true, ['loopback']]);
    expect([settings.redisUrl, settings.migrationDatabaseUrl]).not.toContain(null);
  });

  it('have one proxy for each of REPLICAS, on the ports of the systemd unit', () => {
    const servers = [...host.matchAll(/^ +server \S+ (\S+):(\d+) port (\d+)$/gm)].map(([, ...server]) => server);
    const [, ports = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const instances = Array.from({ length: Number(example['REPLICAS']) }, (_, place) => {
      const environment = environmentOf(ports.replaceAll('%i', String(place + 1)).replaceAll(' ', '\n'));
      return ['127.0.0.1', environment['PORT'], environment['MANAGEMENT_PORT']];
    });
    expect(servers).toEqual(instances);
    // Systemd lets the file win over the unit's own ports.
    expect(Object.keys(example).filter((name) => name in environmentOf(ports.replaceAll(' ', '\n')))).toEqual([]);
  });

  it('have a console whose settings production accepts, where the proxy looks for it', async () => {
    const settings = environmentOf(textOf('docker/console.env.example'));
    expect(Object.keys(settings).filter((name) => !isSetting(name))).toEqual([]);
    await expect(loadConsoleSettings(settings)).resolves.toMatchObject({
      production: true,
      trustedProxies: ['loopback'],
    });
    expect(host).toContain(
      `server console1 127.0.0.1:${settings['CONSOLE_PORT']} port ${settings['CONSOLE_MANAGEMENT_PORT']} cookie 1`,
    );
    for (const name of ['BASE_URL', 'REDIS_URL', 'TRUST_PROXY']) expect(settings[name]).toBe(example[name]);
  });

  it.each(['compliance-api@', 'compliance-console'])('start %s in systemd as docs/production.md starts it', (name) => {
    const page = textOf('docs/production.md');
    const unit = textOf(`docker/systemd/${name}.service`);
    const [, program = ''] = /^ExecStart=\S*\/(node .*)$/m.exec(unit) ?? [];
    const [, file = ''] = /^EnvironmentFile=(.*)$/m.exec(unit) ?? [];
    const [, user = ''] = /^User=(.*)$/m.exec(unit) ?? [];
    expect(page).toContain(`runuser -u ${user} -- ${program.replace('node', `node --env-file=${file}`)}`);
    expect(unit).toMatch(/^TimeoutStopSec=40$/m);
  });

  it('configure the proxy as compose.yaml does, except for addresses and TLS', () => {
    const compose = textOf('docker/haproxy/haproxy.cfg');
    const linesOf = (text: string): string[] => text.split('\n').filter((line) => !/^ *#|^$/.test(line));
    const only = (one: string, other: string): string[] =>
      linesOf(one)
        .filter((line) => !linesOf(other).includes(line))
        .map((line) => line.trim());
    const common = (one: string, other: string): string[] =>
      linesOf(one).filter((line) => linesOf(other).includes(line));
    expect(only(host, compose)).toEqual([
      ...['user haproxy', 'group haproxy', 'setenv BASE_URL https://api.example.com'],
      'bind :443 ssl crt /etc/haproxy/api.pem alpn http/1.1',
      'use_backend consoles if { req.hdr(Host) -i console.example.com }',
      ...['default-server check inter 1s fall 2 rise 1'],
      ...['server instance1 127.0.0.1:3001 port 9091', 'server instance2 127.0.0.1:3002 port 9092'],
      'cookie console_instance insert indirect nocache httponly secure attr SameSite=Lax',
      ...['default-server check inter 1s fall 2 rise 1', 'server console1 127.0.0.1:3101 port 9191 cookie 1'],
    ]);
    expect(only(compose, host)).toEqual([
      'setenv BASE_URL http://localhost:3000',
      ...['resolvers containers', 'nameserver dns 127.0.0.11:53', 'hold valid 2s', 'bind :3000', 'bind :3002'],
      'use_backend consoles if { dst_port 3002 }',
      'default-server check port 9090 inter 1s fall 2 rise 1 resolvers containers init-addr none',
      'server-template instance 4 api:3000',
      'cookie console_instance insert indirect nocache httponly dynamic attr SameSite=Lax',
      'dynamic-cookie-key compliance-console',
      'default-server check port 9091 inter 1s fall 2 rise 1 resolvers containers init-addr none',
      'server-template console 2 console:3001',
    ]);
    // The order of rules matters.
    expect(common(host, compose)).toEqual(common(compose, host));
  });

  it('are all described by docs/production.md', () => {
    const page = textOf('docs/production.md');
    const [, table = ''] = /^## Files\n([^]*?)(?:^## |$(?![^]))/m.exec(page) ?? [];
    const named = [...table.matchAll(/^\| ([^|]*) \|/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
      .map(([, name = '']) => `docker/${name}`);
    const covers = (name: string, path: string): boolean =>
      name === path || (name.endsWith('/') && path.startsWith(name));
    expect(deploymentFiles.filter((path) => !named.some((name) => covers(name, path)))).toEqual([]);
    expect(named.filter((name) => !deploymentFiles.some((path) => covers(name, path)))).toEqual([]);
  });
});

describe('compose.yaml', () => {
  it('uses only settings that exist, with valid values', () => {
    const environment = environmentOf(textOf('docker/settings.env'));
    const added = ['keys', 'migrate'].flatMap((name) => at(compose, `services.${name}.environment`));
    const names = [environment, ...added].flatMap((one) => Object.keys(one as object));
    expect(names.filter((name) => !isSetting(name))).toEqual([]);
    expect(settingsFrom(environment).replicas).toBe(at(compose, 'services.api.deploy.replicas')[0]);
    expect(environment).not.toHaveProperty('MIGRATION_DATABASE_URL');
  });

  it('leaves out the role of the console, which a volume of release 1.0.0 lacks, and names its file of cursor keys', () => {
    expect(at(compose, 'services.migrate.environment.CONSOLE_DATABASE_URL')).toEqual([
      expect.stringMatching(/^\$\{CONSOLE_OIDC_ISSUER:\+postgres:.*\}$/),
    ]);
    expect(environmentOf(textOf('docker/settings.env'))).toHaveProperty('CURSOR_KEYS_FILE', '/keys/cursor.json');
  });

  it('gives the console valid settings, no owner, no password of the API and no key that signs', async () => {
    const [service] = at(compose, 'services.console');
    const given = at(service, 'environment')[0] as Record<string, string>;
    expect(Object.keys(given).filter((name) => !isSetting(name))).toEqual([]);
    expect([at(service, 'env_file'), given['DATABASE_URL'], given['MIGRATION_DATABASE_URL']]).toEqual([
      ...[[], undefined, undefined],
    ]);
    const named = Object.entries(given).map(([name, value]) => [name, value.replace('${CONSOLE_OIDC_', 'https://')]);
    const oidc = { CONSOLE_OIDC_ISSUER: 'https://id.example.com', CONSOLE_OIDC_CLIENT_ID: 'console' };
    const settings = await loadConsoleSettings({ ...(Object.fromEntries(named) as Record<string, string>), ...oidc });
    expect(settings.console.url).toBe('http://localhost:3002');
    expect(at(compose, 'services.proxy.ports.*')).toContain('127.0.0.1:3002:3002');
    expect(at(service, 'volumes.*')).toEqual(['console-keys:/keys:ro']);
    expect(at(compose, 'services.console-keys.command.*')).toEqual([
      ...['sh', '-c'],
      'mkdir -p /keys/signing && cp /api-keys/signing/*.cursor.key /keys/signing && cp /api-keys/pepper /api-keys/audit /keys',
    ]);
  });

  it('mounts only files that exist', () => {
    const mounts = at(compose, 'services.*.volumes.*').map(String);
    const files = mounts.filter((mount) => mount.startsWith('./')).map((mount) => mount.split(':')[0] as string);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !existsSync(join(root, 'docker', file)))).toEqual([]);
    const volumes = mounts.filter((mount) => /^\w/.test(mount)).map((mount) => mount.split(':')[0] as string);
    const declared = Object.keys(at(compose, 'volumes')[0] as object);
    expect([...new Set(volumes)].sort()).toEqual(declared.sort());
  });

  it('runs operator commands as documented: with both roles and rotatable keys', () => {
    const [, service = ''] = /compose run --rm (\w+) node dist\/apps\/admin/.exec(
      textOf('docs/production.md').replace(/ -f \S+/g, ''),
    ) ?? [''];
    expect(at(compose, `services.${service}.volumes.*`)).toEqual(['keys:/keys']);
    expect(at(compose, `services.${service}.environment.MIGRATION_DATABASE_URL`)).toHaveLength(1);
    // The network of Postgres, and one that leads to issuers.
    expect(at(compose, `services.${service}.networks`)).toEqual([['edge', 'services']]);
  });

  it('lets containers write only to their volumes, gain no privileges and run one version', () => {
    for (const [name, service] of Object.entries(at(compose, 'services')[0] as Record<string, Tree>)) {
      expect([name, at(service, 'read_only')]).toEqual([name, [true]]);
      expect([name, at(service, 'cap_drop')]).toEqual([name, [['ALL']]]);
      expect([name, at(service, 'security_opt')]).toEqual([name, [['no-new-privileges:true']]]);
      expect(at(service, 'image')[0]).toMatch(/:v?\d+\.\d+/);
    }
    const published = at(compose, 'services.*.ports.*').map(String);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(at(compose, 'services.api.stop_grace_period')).toEqual(['40s']);
  });
});

describe('The Kubernetes manifests', () => {
  it('are all applied except the examples', () => {
    for (const folder of ['', '/operators', '/monitoring', '/console'].map((name) => `docker/kubernetes${name}`)) {
      const [kustomization] = yaml[`${folder}/kustomization.yaml`] ?? [];
      const applied = at(kustomization, 'resources.*').map(String);
      const present = deploymentFiles
        .filter((path) => dirname(path) === folder)
        .map((path) => basename(path))
        .filter((name) => name !== 'kustomization.yaml' && !name.endsWith('.example.yaml'));
      expect(applied.sort()).toEqual(present.sort());
      expect(at(kustomization, 'namespace')).toEqual(['compliance']);
    }
    const images = ['', 'operators/', 'console/'].map((folder) =>
      at(yaml[`docker/kubernetes/${folder}kustomization.yaml`]?.[0], 'images'),
    );
    expect(images).toEqual(images.map(() => images[0]));
    const kinds = kubernetes.flatMap((one) => at(one, 'kind'));
    expect(kinds).toEqual(
      expect.arrayContaining([
        'Deployment',
        'Service',
        'Job',
        'PodDisruptionBudget',
        'HorizontalPodAutoscaler',
        'NetworkPolicy',
      ]),
    );
  });

  it('use only settings that exist, with valid values', async () => {
    const [settings, ofConsole] = [settingsNamed('compliance-api'), settingsNamed('compliance-console')];
    const further = pods.flatMap((pod) => at(pod, 'containers.*.env.*.name')).map(String);
    const names = [...Object.keys(settings), ...Object.keys(ofConsole), ...further];
    expect(names.filter((name) => !isSetting(name))).toEqual([]);
    await expect(loadConsoleSettings(inTheImage(ofConsole))).resolves.toMatchObject({
      ...{ production: true, baseUrl: settings['BASE_URL'] },
      console: { host: '0.0.0.0', managementHost: '0.0.0.0' },
    });
    expect(settingsFrom(settings).replicas).toBe(at(ofKind('HorizontalPodAutoscaler')[0], 'spec.minReplicas')[0]);
  });

  it('let only Prometheus reach instances that are not ready', () => {
    const services = ofKind('Service').map((one) => [at(one, 'spec.ports.*.targetPort'), at(one, 'spec')[0]] as const);
    const open = services.filter(([, spec]) => at(spec, 'publishNotReadyAddresses')[0] === true);
    expect(open.map(([ports]) => ports)).toEqual([['management'], ['management']]);
  });

  it('mount only secrets of the example, where the settings look for them', () => {
    const known = secretsOfExample.flatMap((secret) => at(secret, 'metadata.name'));
    const mounted = pods.flatMap((pod) => at(pod, 'volumes.*.secret.secretName'));
    expect([...new Set(mounted)].sort()).toEqual([...known].sort());
    for (const name of ['compliance-api', 'compliance-console']) {
      const uses = (pod: Tree) => at(pod, 'containers.*.envFrom.*.configMapRef.name')[0] === name;
      const places = at(pods.find(uses), 'containers.*.volumeMounts.*.mountPath').map(String);
      const files = Object.values(settingsNamed(name)).filter((value) => value.startsWith('/'));
      expect(files.length).toBeGreaterThan(3);
      expect(files.filter((file) => !places.some((place) => file === place || file.startsWith(`${place}/`)))).toEqual(
        [],
      );
    }
  });

  it('give the console no key that signs, no role but its own, and its own network policy', () => {
    const [pod] = pods.filter((one) => at(one, 'containers.*.name')[0] === 'console');
    expect(at(pod, 'volumes.*.secret.secretName').sort()).toEqual([
      ...['compliance-console-database', 'compliance-console-issuer', 'compliance-cursor-keys', 'compliance-keys'],
      'compliance-redis',
    ]);
    const cursorKeys = secretsOfExample.find((one) => at(one, 'metadata.name')[0] === 'compliance-cursor-keys');
    expect(
      Object.keys(at(cursorKeys, 'stringData')[0] as object).filter((name) => !name.endsWith('.cursor.key')),
    ).toEqual([]);
    const policy = ofKind('NetworkPolicy').find((one) => at(one, 'metadata.name')[0] === 'compliance-console');
    const [deployment] = ofKind('Deployment').filter((one) => at(one, 'metadata.name')[0] === 'compliance-console');
    expect(at(policy, 'spec.podSelector.matchLabels')).toEqual(at(deployment, 'spec.template.metadata.labels'));
    expect(at(policy, 'spec.ingress.*.ports.*.port')).toEqual(['http', 'management']);
    expect(at(policy, 'spec.egress.*.ports.*.port')).toEqual([53, 53, 5432, 6379, 443]);
  });

  it('meet the restricted pod security standard', () => {
    expect(pods).toHaveLength(6);
    for (const pod of pods) {
      expect(at(pod, 'securityContext')[0]).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(at(pod, 'containers.*.securityContext')).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      ]);
      expect(at(pod, 'automountServiceAccountToken')).toEqual([false]);
    }
  });

  it('probe readiness and liveness on the management port, and allow time for a shutdown', () => {
    for (const pod of ofKind('Deployment').flatMap((one) => at(one, 'spec.template.spec'))) {
      const probes = ['readinessProbe', 'livenessProbe'].flatMap((probe) => at(pod, `containers.*.${probe}`));
      expect(probes.flatMap((probe) => at(probe, 'httpGet'))).toEqual([
        { path: '/readyz', port: 'management' },
        { path: '/livez', port: 'management' },
      ]);
      const [period, failures] = ['periodSeconds', 'failureThreshold'].map((name) => Number(at(probes[0], name)[0]));
      expect(Number(period) * Number(failures) * 1_000).toBeLessThan(NOTICE_MS);
      expect(at(pod, 'terminationGracePeriodSeconds')).toEqual([40]);
      expect(everywhere(pod, 'preStop')).toEqual([]);
    }
  });
});

describe('Alerts and dashboards', () => {
  const documented = new Map(
    [
      ...textOf('docs/observability.md').matchAll(
        /^\| `((?:http|compliance|process|nodejs)_\w+)` *\| \w+ *\|([^|]*)\|/gm,
      ),
    ].map(([, name, labels = '']) => [
      name as string,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
    ]),
  );
  const rules = at(yaml['docker/prometheus/alerts.yml']?.[0], 'groups.*.rules.*');
  const dashboard = JSON.parse(textOf('docker/grafana/dashboards/api.json')) as Tree;
  const expressions = [...rules, dashboard].flatMap((one) => everywhere(one, 'expr')).map(String);

  it('query only metrics and labels that exist', () => {
    const asked = expressions.flatMap(metricsIn);
    expect(asked.length).toBeGreaterThan(30);
    expect(asked.filter(({ name }) => !documented.has(name))).toEqual([]);
    const known = (name: string): string[] => [...(documented.get(name) ?? []), 'job', 'instance', 'le'];
    expect(asked.filter(({ name, labels }) => labels.some((label) => !known(name).includes(label)))).toEqual([]);
    // Other software has these metrics, too.
    const common = asked.filter(({ name }) => !name.startsWith('compliance_'));
    expect(common.filter(({ labels }) => !labels.includes('job'))).toEqual([]);
  });

  it('name a first step, and match the runbook section by section', () => {
    const runbook = textOf('docs/runbook.md');
    const places = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    const names = rules.flatMap((rule) => at(rule, 'alert')).map(String);
    expect(places).toEqual(names);
    expect(rules.flatMap((rule) => at(rule, 'annotations.action'))).toHaveLength(names.length);
    expect(rules.flatMap((rule) => at(rule, 'annotations.runbook'))).toEqual(
      names.map((name) => `docs/runbook.md#${name.toLowerCase()}`),
    );
  });

  it('are provisioned with the files and the datasource that they need', () => {
    const [source] = at(yaml['docker/grafana/provisioning/datasources/prometheus.yaml']?.[0], 'datasources.*');
    expect([...new Set(everywhere(dashboard, 'datasource').flatMap((one) => at(one, 'uid')))]).toEqual(
      at(source, 'uid'),
    );
    const [folder] = at(yaml['docker/grafana/provisioning/dashboards/api.yaml']?.[0], 'providers.*.options.path').map(
      String,
    );
    const mounts = at(compose, 'services.grafana.volumes.*').map(String);
    expect(mounts).toContain(`./grafana/dashboards:${folder}:ro`);
    expect(at(yaml['docker/prometheus/prometheus.yml']?.[0], 'rule_files')).toEqual([['alerts.yml']]);
  });
});

describe('The parser of metric expressions', () => {
  it('returns each metric without its histogram suffix, and the labels it selects by', () => {
    expect(metricsIn('rate(http_a_bucket{code!="",status=~"5.."}[5m]) / nodejs_b')).toEqual([
      { name: 'http_a', labels: ['code', 'status'] },
      { name: 'nodejs_b', labels: [] },
    ]);
  });
});
