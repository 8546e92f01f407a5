import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from '#libs/client';
import { workspaceId } from '#libs/kernel';
import { readClientKeys, thumbprintsOf } from '#libs/auth/operators';
import { shownFile } from '../support/doc-examples';
import { type TestOperator, openOperator } from '../support/operator';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';

type Members = Readonly<Record<string, unknown>>;
interface OcsfEvent extends Members {
  readonly class_uid: number;
  readonly activity_id: number;
  readonly type_uid: number;
  readonly metadata: Members;
}

const PAGE = 'ocsf.md';
const LONGEST_PROGRAM = 60;

/** Required by every class of OCSF 1.3.0. */
const REQUIRED = ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid'];
/** Other members of the program that every class allows. */
const ALLOWED = ['activity_name', 'status_id', 'unmapped'];
/** The classes of OCSF 1.3.0, without activities that no action has. An actor needs the profile `host`, or is recommended. */
const CLASSES: Record<number, { category: number; activities: number[]; required: string[]; allowed: string[] }> = {
  0: { category: 0, activities: [99], required: [], allowed: [] },
  3001: { category: 3, activities: [1, 2, 4, 5, 6, 99], required: ['user'], allowed: ['actor'] },
  3004: { category: 3, activities: [1, 3, 4], required: ['entity'], allowed: ['actor'] },
  6001: { category: 6, activities: [6, 7], required: ['web_resources'], allowed: ['actor'] },
};
const TYPES: Record<string, number> = {
  'asset.updated': 300403,
  'application.created': 300101,
  'application.enabled': 300102,
  'application.disabled': 300105,
  'application.deleted': 300106,
  'application.secret_rotated': 300104,
  'application.secret_ended': 300199,
  'application.secret_removed': 300199,
  'application.key_added': 300199,
  'application.key_removed': 300199,
  'application.trust_added': 300199,
  'application.trust_removed': 300199,
  'application.trust_replaced': 300199,
  'application.scopes_set': 300199,
  'application.limits_set': 300199,
  'tag_key.created': 300401,
  'tag_key.deleted': 300404,
  'import.completed': 600106,
  'inventory.exported': 600107,
  'audit.exported': 600107,
};
/** Members whose values differ from run to run. */
const VARIABLE = [
  ...['time', 'logged_time', 'original_time', 'uid', 'sequence', 'correlation_uid'],
  ...['leafHash', 'app_uid'],
];

const sorted = (names: readonly string[]): string[] => [...names].sort();
/** The event with types in place of variable values. */
const withoutVariables = (event: OcsfEvent): unknown =>
  JSON.parse(
    JSON.stringify(event, (name, value: unknown) => (VARIABLE.includes(name) ? typeof value : value)),
  ) as unknown;

async function changeKeysAndTrusts({ clientKeys, trusts }: TestOperator, clientId: string): Promise<void> {
  const { publicKey } = generateKeyPairSync('ed25519');
  const keys = await readClientKeys(JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'k' }));
  await clientKeys.add(clientId, keys);
  await clientKeys.remove(clientId, 'k');
  const named = { issuer: 'https://issuer.example', subject: 'repo:acme/*', audience: null };
  const [trust] = (await trusts.add(clientId, { ...named, insecure: false, given: true, keys })) ?? [];
  const id = trust?.id ?? '';
  await trusts.refresh(clientId, new Map([[id, keys]]), thumbprintsOf, false);
  await trusts.remove(clientId, id);
}

/** One event of each action in the table of the page, as the API lists them. */
async function eventsOfTheTable(app: TestApp): Promise<AuditEvent[]> {
  const operator = await openOperator(app);
  const sealing = await Sealing.of(app);
  try {
    const here = workspaceId(await app.arrange.aWorkspace());
    const client = await app.arrange.aClient(here);
    const { id } = await app.arrange.anAsset(here);
    await operator.tagKeys.create(here, { key: 'env', value: null, platform: false });
    const patch = { classification: 'PUBLIC', tags: [{ key: 'env' }] };
    expect((await client.patch(`/v1/inventory/assets/${id}`, patch)).status).toBe(200);
    await operator.tagKeys.create(here, { key: 'old', value: null, platform: false });
    await operator.tagKeys.delete(here, 'old');

    const { applications } = operator;
    const { clientId } = (await applications.create(here, 'siem', ['audit:read'])).application;
    await applications.rotateSecret(clientId, null);
    await applications.setDisabled(clientId, true);
    await applications.setDisabled(clientId, false);
    await applications.setScopes(clientId, ['audit:read', 'inventory:read']);
    await applications.setLimits(clientId, { read: { perMinute: 500, burst: 1000 } });
    await applications.rotateSecret(clientId, 60);
    await applications.endOldSecret(clientId);
    await applications.removeSecret(clientId);
    await changeKeysAndTrusts(operator, clientId);
    await applications.setDisabled(clientId, true);
    await applications.delete(clientId);

    const employee = { categoryKey: 'EMPLOYEE', name: 'Ada', email: 'a@example.com' };
    await operator.imports.runLines(
      here,
      { source: 'hr', files: [], dryRun: false, missing: 'keep', createTagKeys: null },
      [{ ...employee, externalId: '1' }, { ...employee, externalId: '2' }, { categoryKey: 'NONE' }].map(
        (value, place) => ({ fileIndex: 0, line: place + 1, value }),
      ),
    );
    for (const list of ['inventory/assets', 'audit-events']) {
      await client.get(`/v1/${list}`, { headers: { Accept: 'application/x-ndjson' } });
    }

    for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
      await sealing.seal();
      const events = (await client.get('/v1/audit-events')).body['results'] as AuditEvent[];
      // A stream is recorded after its end.
      if (events.filter(({ action }) => action.endsWith('.exported')).length === 2) return events;
    }
    throw new Error('The stream was not recorded.');
  } finally {
    await sealing.close();
    await operator.close();
  }
}

describe('ocsf.mjs', () => {
  let app: TestApp;
  let directory: string;
  let events: AuditEvent[];
  let mapped: OcsfEvent[];

  beforeAll(async () => {
    app = await startApp();
    directory = mkdtempSync(join(tmpdir(), 'compliance-ocsf-'));
    writeFileSync(join(directory, 'ocsf.mjs'), shownFile(PAGE, 'ocsf.mjs'));
    events = await eventsOfTheTable(app);
    mapped = run(events);
  }, 240_000);
  afterAll(async () => {
    await app.stop();
    rmSync(directory, { recursive: true });
  });

  const run = (lines: readonly object[]): OcsfEvent[] => {
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const options = { cwd: directory, input, encoding: 'utf8', timeout: 60_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['ocsf.mjs'], options);
    expect([status, stderr]).toEqual([0, '']);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as OcsfEvent);
  };
  const demandValid = (event: OcsfEvent): void => {
    const { category, activities, required, allowed } = CLASSES[event.class_uid] as (typeof CLASSES)[number];
    const members = Object.keys(event);
    const demanded = [...REQUIRED, ...required];
    expect(demanded.filter((name) => !members.includes(name))).toEqual([]);
    expect(members.filter((name) => ![...demanded, ...ALLOWED, ...allowed].includes(name))).toEqual([]);
    expect(activities).toContain(event.activity_id);
    expect(event).toMatchObject({
      category_uid: category,
      type_uid: event.class_uid * 100 + event.activity_id,
      severity_id: 1,
      status_id: 1,
      metadata: {
        version: '1.3.0',
        profiles: event.class_uid === 0 ? [] : ['host'],
        product: { vendor_name: expect.any(String) as string },
      },
    });
    expect('activity_name' in event).toBe(event.activity_id === 99);
    expect(Number.isInteger(event['time'])).toBe(true);
  };

  it(`is at most ${LONGEST_PROGRAM} lines long`, () => {
    expect(shownFile(PAGE, 'ocsf.mjs').trimEnd().split('\n').length).toBeLessThanOrEqual(LONGEST_PROGRAM);
  });

  it('gives each action of the table its class and activity, with their required members', () => {
    const types = mapped.map(({ metadata, type_uid }) => [String(metadata['event_code']), type_uid]);
    expect(Object.fromEntries(types)).toEqual(TYPES);
    mapped.forEach(demandValid);
  });

  it('keeps who did it, to what, when, and everything else', () => {
    expect(mapped).toHaveLength(events.length);
    for (const [place, event] of events.entries()) {
      const { id, sequence, occurredAt, recordedAt, action, actor, target, request, changes, leafHash } = event;
      const one = mapped[place] as OcsfEvent;
      expect(one).toMatchObject({
        time: Date.parse(occurredAt),
        actor: {
          app_name: actor.type,
          ...(actor.clientId === null ? {} : { app_uid: actor.clientId }),
          ...(actor.name ? { user: { name: actor.name } } : {}),
        },
        metadata: { uid: id, sequence, event_code: action, logged_time: Date.parse(recordedAt) },
        unmapped: { changes, leafHash },
      });
      expect(one.metadata['correlation_uid'] ?? null).toBe(request.id);
      const [resource] = (one['web_resources'] ?? []) as unknown[];
      expect(one['user'] ?? one['entity'] ?? resource).toMatchObject({ uid: target.id, type: target.type });
    }
  });

  it('returns the event that its page shows', () => {
    const text = readFileSync(join(__dirname, '../../docs', PAGE), 'utf8');
    const shown = [...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json]) => JSON.parse(json ?? '') as OcsfEvent);
    const codes = shown.map(({ metadata }) => String(metadata['event_code']));
    expect(codes).toEqual(['asset.updated']);
    for (const example of shown) {
      const real = mapped.find(({ metadata }) => metadata['event_code'] === example.metadata['event_code']);
      expect(withoutVariables(example)).toEqual(withoutVariables(real as OcsfEvent));
    }
  });

  it('passes an unknown action as a base event, and loses nothing of it', () => {
    const [event] = events as [AuditEvent];

    const [one] = run([{ ...event, action: 'asset.archived' }]) as [OcsfEvent];

    demandValid(one);
    const { actor, target, changes } = event;
    expect(one).toMatchObject({ type_uid: 99, activity_name: 'asset.archived', unmapped: { actor, target, changes } });
  });

  it('keeps the id of a person who used the console', () => {
    const [event] = events as [AuditEvent];
    const personId = '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11';

    const [one] = run([{ ...event, actor: { type: 'PERSON', clientId: null, name: null, personId } }]) as [OcsfEvent];

    expect(one['actor']).toEqual({ app_name: 'PERSON', user: { uid: personId } });
  });

  it('reads pages too', () => {
    expect(run([{ results: events.slice(0, 2) }, { results: [] }, { results: events.slice(2) }])).toEqual(mapped);
  });

  it('is described by the table of its page', () => {
    const text = readFileSync(join(__dirname, '../../docs', PAGE), 'utf8');
    const rows = [...text.matchAll(/^\| (`[a-z_.`, ]+`) +\| [^|]*, (\d+) +\| (\d+) +\| [^|]*, (\d+) +\| (\d+) +\|$/gm)];
    const told = rows.flatMap(([, actions = '', ...numbers]) =>
      [...actions.matchAll(/`([^`]+)`/g)].map(([, action]) => [action, ...numbers.map(Number)]),
    );
    const numbers = mapped.map(({ metadata, class_uid, category_uid, activity_id, type_uid }) => [
      metadata['event_code'],
      ...[class_uid, category_uid, activity_id, type_uid],
    ]);
    const unique = new Map(numbers.map((row) => [String(row[0]), row]));
    expect(sorted(told.map(String))).toEqual(sorted([...unique.values()].map(String)));
  });
});
