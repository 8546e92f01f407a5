import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Tree, at, readYaml } from './deployment-files';
import { root } from './project-files';

type Versions = Readonly<Record<string, string>>;
interface Component {
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

const json = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest = json('package.json') as Readonly<Record<string, Versions>>;
const { packages } = json('package-lock.json') as {
  packages: Readonly<Record<string, { name?: string; dev?: boolean; integrity?: string }>>;
};

/** The range of Node that package.json allows. */
const NODE = manifest['engines']?.['node'] as string;
/** Licences that require only a notice. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Python-2.0'];
/** Packages that declare their licence in the file LICENSE only. */
const NAMED_IN_FILE = ['busboy', 'streamsearch'];

describe('Dependencies', () => {
  it('have exact versions', () => {
    const named = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(([, version]) => !/^(npm:typescript@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('have a hash in the lock file', () => {
    const unhashed = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
    expect(unhashed).toEqual([]);
  });

  it('set the range of Node: TypeORM needs the newest', () => {
    const lock = json('package-lock.json') as { packages: Record<string, { engines?: { node: string } }> };
    const rangeOf = (path: string) => lock.packages[path]?.engines?.node;

    expect(rangeOf('node_modules/typeorm')?.replace(/\.0(?=$| )/g, '')).toBe(NODE);
    expect(rangeOf('')).toBe(NODE);
  });

  it('send no statistics about their installation', () => {
    const reporters = Object.entries(packages).filter(([path, { name }]) => {
      return (name ?? path.replace(/^.*node_modules\//, '')) === '@scarf/scarf';
    });
    expect(reporters).toEqual([]);
  });
});

describe('A release', () => {
  it('has one version in package.json, the client, the lock file, docker/ and the changelog', () => {
    const { version } = json('package.json') as { version: string };
    const [, changelog] = /^## (\S+)$/m.exec(readFileSync(join(root, 'docs/changelog.md'), 'utf8')) ?? [];
    const yaml = readYaml();
    const compose = at(yaml['docker/compose.yaml']?.[0], 'services.*.image').map(String);
    const images = compose.flatMap((image) => /^compliance-public-api:(.*)$/.exec(image)?.slice(1) ?? []);
    const pods = Object.values(yaml).flatMap(([one]) => at(one, 'images.*.newTag'));
    const client = (json('libs/client/package.json') as { version: string }).version;
    const locked = (json('package-lock.json') as { version: string }).version;

    expect([images.length, pods.length]).toEqual([5, 3]);
    expect(new Set([changelog, client, locked, ...images, ...pods])).toEqual(new Set([version]));
  });
});

describe('npm start', () => {
  /** Runs words of a command line and returns what Node printed. */
  const nodePrints = (...words: string[]): string => {
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 100_000 });
    return stdout + stderr;
  };

  it('needs the Node that the README names', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\nNode \`${NODE}\` and npm are all it needs:\n`);
  });

  it('says so on another Node', () => {
    const other = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.12.0' } })`;
    const preload = `data:text/javascript,${encodeURIComponent(other)}`;

    expect(nodePrints('--import', preload, 'apps/local/start.mjs')).toBe(`Node ${NODE} is needed; this is 22.12.0.\n`);
  });

  it('takes every Node of the range and no other', () => {
    const inside = ['20.19.0', '22.13.0', '24.11.0', '26.0.0'];
    const outside = ['20.18.3', '21.7.3', '22.12.0', '23.11.1', '24.10.0'];
    const taken = `import { demandNode } from './apps/local/build.mjs';
      const isTaken = (version) => { try { demandNode(version); return true; } catch { return false; } };
      console.log(JSON.stringify(process.argv.slice(1).filter(isTaken)));`;

    expect(JSON.parse(nodePrints('--input-type=module', '-e', taken, ...inside, ...outside))).toEqual(inside);
  });
});

describe('npm run sbom', () => {
  it('lists every production package in CycloneDX, each with a permissive licence', () => {
    const npm = process.env['npm_execpath'];
    const [program, ...words] = npm ? [process.execPath, npm] : ['npm'];
    const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, timeout: 100_000 } as const;
    const { stdout } = spawnSync(program, [...words, 'run', '--silent', 'sbom'], options);
    const { bomFormat, components: all } = JSON.parse(stdout) as {
      bomFormat: string;
      components: readonly Component[];
    };

    expect(bomFormat).toBe('CycloneDX');
    // `--omit dev` would also omit packages that both production and development use.
    const components = all.filter(({ properties = [] }) => {
      return !properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
    });
    expect(components.length).toBeLessThan(all.length);
    expect(components.map(({ name }) => name)).toEqual(
      expect.arrayContaining(Object.keys(manifest['dependencies'] ?? {})),
    );
    const licencesOf = ({ licenses = [] }: Component) =>
      licenses.map(({ license, expression }) => license?.id ?? expression);
    for (const name of NAMED_IN_FILE) {
      const licence = readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8');
      expect(licence).toContain('Permission is hereby granted, free of charge');
    }
    const unclear = components.filter((component) => {
      const licences = licencesOf(component);
      return licences.length === 0
        ? !NAMED_IN_FILE.includes(component.name)
        : licences.some((licence) => !LICENCES.includes(licence ?? ''));
    });
    expect(unclear.map((component) => [component.name, component.version, licencesOf(component)])).toEqual([]);
  });
});

describe('The workflow', () => {
  const workflow = readYaml()['.github/workflows/ci.yml']?.[0] as Tree;
  const steps = at(workflow, 'jobs.check.steps.*');

  it('runs both commands of the README on every supported major version of Node', () => {
    expect(at(workflow, 'jobs.check.strategy.matrix.node')).toEqual([[20, 22, 24, 26]]);
    const commands = steps.flatMap((step) => at(step, 'run').map(String)).join('\n');
    for (const command of ['npm ci', 'npm test', 'npm start']) expect(commands).toContain(command);
  });

  it('has read permission only, and pins actions by commit', () => {
    expect(at(workflow, 'permissions')).toEqual([{ contents: 'read' }]);
    const actions = steps.flatMap((step) => at(step, 'uses')).map(String);
    expect(actions.length).toBeGreaterThan(1);
    expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});
