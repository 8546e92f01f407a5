import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GUIDES, PROGRAM } from '../../libs/docs-site/src/guides/guide-list';
import { everywhere, readYaml, textOf } from './deployment-files';
import { projectFiles, root } from './project-files';

const dockerfile = textOf('docker/Dockerfile');
/** The stage that becomes the image. */
const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));

describe('The image', () => {
  it('runs without root, from a pinned base, with only what a release needs', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-\S+$/m);
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(Array(3).fill('${NODE_IMAGE}'));
    expect([...last.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(['1000:1000']);
    expect(last).toMatch(/^HEALTHCHECK .*"docker\/healthcheck\.mjs"/m);
    expect(dockerfile).toContain('npm ci --omit=dev --omit=optional');
  });

  it('is built from files that exist and that the build context includes', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    const context = textOf('.dockerignore').split('\n');
    expect(copied).toContain('package.json');
    for (const name of copied) {
      expect([name, existsSync(join(root, name)), context.includes(`!${name}`)]).toEqual([name, true, true]);
    }
    expect(context).toContain('*');
  });

  it('is built as on a host, from all pages of the guides', () => {
    const [, build = ''] = dockerfile.split(/^FROM .*$/m);
    const copied = [...build.matchAll(/^COPY \S+ (\S+)$/gm)].map(([, name]) => name);
    const absent = GUIDES.filter(({ file }) => !copied.some((name) => file.startsWith(`${name}/`)));
    expect(absent).toEqual([]);
    expect(build.trim().split('\n').at(-1)).toBe('RUN npm run --silent build');
  });

  it('holds every file of the project that a process reads, and its licence', () => {
    const readers = projectFiles().filter(
      (path) => /^(apps|libs)\/.*(?<!spec)\.ts$/.test(path) && textOf(path).includes("require.resolve('#package')"),
    );
    const held = [...last.matchAll(/^COPY (?:--from=\S+ )?.* (\S+)$/gm)].map(([, target = '']) => target);
    const leftOut = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('docs/'));

    // Another reader is a file more to look for here.
    expect(readers).toEqual([
      'apps/admin/src/command-line.ts',
      'libs/console/src/http/import-processes.ts',
      'libs/docs-site/src/served-file.ts',
      'libs/inventory/src/imports/system/maps/map-library.system.ts',
      'libs/platform/src/config/service-version.ts',
    ]);
    for (const read of [PROGRAM.file, 'docs/sources', 'libs/docs-site/src/browser', 'dist/guides.json']) {
      expect([read, held.some((name) => `${read}/`.startsWith(`${name}/`))]).toEqual([read, true]);
      expect([read, leftOut.filter((name) => read.startsWith(name))]).toEqual([read, []]);
    }
    expect(last).toMatch(/^COPY package\.json LICENSE \.\/$/m);
  });

  it('lets another user pass to what is mounted below its directories, as OpenShift runs it', () => {
    const made = [...last.matchAll(/^RUN install -d .*-m (\d+) (\S+)$/gm)];
    const mounts = Object.entries(readYaml())
      .filter(([path]) => path.startsWith('docker/kubernetes/'))
      .flatMap(([, documents]) => documents.flatMap((one) => everywhere(one, 'mountPath')).map(String));

    expect(made).not.toEqual([]);
    for (const [, mode = '', directory = ''] of made) {
      expect(mounts.some((mount) => mount.startsWith(`${directory}/`))).toBe(true);
      expect([directory, parseInt(mode, 8) & 0o007]).toEqual([directory, 0o001]);
    }
  });
});
