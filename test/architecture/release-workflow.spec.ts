import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Tree, at, readYaml } from './deployment-files';
import { root } from './project-files';

const yaml = readYaml();
const workflow = yaml['.github/workflows/release.yml']?.[0] as Tree;
const steps = at(workflow, 'jobs.release.steps.*');
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
/** Address of the project's files at the tag. */
const PAGES = `https://git.example.com/acme/compliance/blob/v${version}/`;

/** Returns the commands of the one step that contains this text. */
function commandsWith(text: string): string {
  const [commands, ...others] = steps
    .flatMap((step) => at(step, 'run').map(String))
    .filter((run) => run.includes(text));
  expect(others).toEqual([]);
  return commands ?? '';
}

describe('The release workflow', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-release-'));
    for (const name of ['package.json', 'libs', 'docs']) symlinkSync(join(root, name), join(directory, name));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Runs the step that checks the tag and writes the notes, as the workflow does. Returns its exit status. */
  function writeNotes(tag: string): number | null {
    const env = {
      ...{ PATH: process.env['PATH'], VERSION: tag },
      ...{ GITHUB_SERVER_URL: 'https://git.example.com', GITHUB_REPOSITORY: 'acme/compliance' },
    };
    return spawnSync('bash', ['-e', '-c', commandsWith('notes.md\n')], { cwd: directory, env }).status;
  }

  it('publishes only after CI has passed, whose tests leave no file out', () => {
    const ci = yaml['.github/workflows/ci.yml']?.[0];
    const [needed = ''] = at(workflow, 'jobs.release.needs').map(String);

    expect(at(workflow, `jobs.${needed}.uses`)).toEqual(['./.github/workflows/ci.yml']);
    expect(at(ci, 'on.workflow_call')).toHaveLength(1);
    expect(at(ci, 'jobs.check.env.ALL_PROGRAMS')).toEqual(['required']);
  });

  it('writes notes whose links lead to pages of the tag', () => {
    expect(writeNotes(`v${version}`)).toBe(0);

    const notes = readFileSync(join(directory, 'notes.md'), 'utf8');
    const links = [...notes.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    const ofPages = links.filter((link) => link.startsWith(PAGES));
    const missing = ofPages.filter((link) => !existsSync(join(root, link.slice(PAGES.length).replace(/#.*/, ''))));
    expect(ofPages.length).toBeGreaterThan(0);
    expect(links.filter((link) => !link.startsWith('https://'))).toEqual([]);
    expect(missing).toEqual([]);
  });

  it('refuses a tag that names another version', () => {
    expect(writeNotes('v0.9.0')).toBe(1);
  });

  it('labels the image with its version, commit, source and licence', () => {
    const labels = [...commandsWith('docker build').matchAll(/--label "?org\.opencontainers\.image\.([^"\s]+)/g)];

    expect(labels.map(([, label]) => label)).toEqual([
      'version=${VERSION#v}',
      'revision=$GITHUB_SHA',
      'source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY',
      `licenses=${license}`,
    ]);
  });

  it('pins actions by commit', () => {
    const actions = steps.flatMap((step) => at(step, 'uses')).map(String);

    expect(actions.length).toBeGreaterThan(1);
    expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});
