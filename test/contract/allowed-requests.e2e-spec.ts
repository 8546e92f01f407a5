import fc from 'fast-check';
import { ASSET_TYPES, type AssetType } from '../../libs/inventory/src/assets/domain/asset-category';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { AllowedRequests, type KnownValues } from './allowed-requests';
import { type Parameter, type Schema, operationsOf, readContract, resolve } from './contract-document';
import { CONTRACT_FILE } from './contract-files';
import { arrangeEveryResource, cursorsOf } from './every-resource';
import { importOddInventory } from './odd-inventory';

const IS_LONG = process.env['CONTRACT_SIZES'] === 'long';
/** Their parameters refuse each other: filters, forms of a bulk, and ways to prove oneself. */
const MOSTLY_REFUSED = ['listAssets 200', 'listComputers 200', 'updateAssets 200', 'issueToken 200'];
const RUNS = IS_LONG ? 10_000 : 1_800;

const contract = readContract(CONTRACT_FILE);

describe('A request that the contract allows', () => {
  let app: TestApp;
  let callers: readonly ApiClient[];
  let requests: AllowedRequests;

  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    const { employee, ids } = await arrangeEveryResource(app, workspace);
    await app.arrange.anAsset(workspace, { type: 'INFORMATION' });
    await importOddInventory(app.database, workspace, IS_LONG ? 20_000 : 2_000);
    const imported = async (condition: string): Promise<string[]> => {
      const { rows } = await app.database.admin.query<{ id: string }>(
        `SELECT public_id AS id FROM asset WHERE workspace_id = $1 AND source = 'odd' AND ${condition} ORDER BY id LIMIT 60`,
        [workspace],
      );
      return rows.map(({ id }) => id);
    };
    const ofType = (type: AssetType): string => `sub_key = ${ASSET_TYPES.indexOf(type) + 1}`;
    const assets = [...Object.values(ids), ...(await imported(`NOT ${ofType('EMPLOYEE')}`))];
    const computers = await imported(ofType('COMPUTER'));
    const owners = [employee, ...(await imported(ofType('EMPLOYEE')))];
    const full = await app.arrange.aClient(workspace);
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const today = new Date().toISOString().slice(0, 10);
    const often = (...values: string[]) => ({ values, weight: 80 });
    requests = new AllowedRequests(contract, {
      ...(await existingValues(full, ids, often)),
      id: often(...assets, ...owners.slice(0, 3)),
      'getComputer.id': often(...computers),
      item: often(...assets),
      ownerId: often(...owners),
      ownerEmail: often('ada@example.com'),
      key: often('env'),
      from: often(today),
      to: often(today),
      'Idempotency-Key': { values: ['again', 'and again'], weight: 1 },
      'If-Match': { values: ['*', '"1"', '"2"'], weight: 12 },
      client_id: often(clientId),
      client_secret: often(clientSecret),
      audience: often(app.settings.tokenAudience),
      scope: often('all:read', ''),
    });
    const poor = await app.arrange.aClient(workspace, ['frameworks:read']);
    // Most callers have all scopes; the others are refused early.
    callers = [full, full, full, full, full, full, full, full, poor, app.client()];
  });
  afterAll(() => app.stop());

  /** The arranged id of each resource, and a cursor of each list. */
  async function existingValues(
    client: ApiClient,
    ids: Readonly<Record<string, string>>,
    often: (...values: string[]) => KnownValues[string],
  ): Promise<KnownValues> {
    const known: Record<string, KnownValues[string]> = {};
    for (const { path, operation } of operationsOf(contract)) {
      const id = ids[path.replace(/\/\{id\}.*/, '')];
      if (id && path.includes('/{id}')) known[`${operation.operationId}.id`] = often(id);
    }
    for (const [list, cursor] of Object.entries(await cursorsOf(contract, client, ids)))
      if (!list.endsWith('Changes')) known[`${list}.pageCursor`] = often(cursor);
    return known;
  }

  it('returns the whole inventory, each asset and computer once', async () => {
    const { rows } = await app.database.admin.query<{ assets: number; computers: number }>(
      `SELECT count(*)::int AS assets, count(*) FILTER (WHERE sub_key = $1)::int AS computers FROM asset WHERE visibility = 0`,
      [ASSET_TYPES.indexOf('COMPUTER') + 1],
    );
    const full = callers[0] as ApiClient;
    const walked = async (path: string) => {
      const items = await full.walk(path, { pageSize: '100' });
      return new Set(items.map(({ id }) => id)).size;
    };
    expect([await walked('/v1/inventory/assets'), await walked('/v1/computers')]).toEqual(Object.values(rows[0] ?? {}));
    expect(rows[0]?.assets).toBeGreaterThan(1_000);
  });

  // Random requests with a filter are mostly refused, because filters contradict each other or the cursor.
  it('returns a page for each value of each filter', async () => {
    const list = operationsOf(contract).find(({ operation }) => operation.operationId === 'listAssets');
    const filters = (list?.operation.parameters ?? []).flatMap((one) => {
      const { name, schema } = resolve<Parameter>(contract, one);
      const values =
        schema.type === 'boolean'
          ? ['true', 'false']
          : (resolve<Schema>(contract, schema as Schema & { $ref: string }).enum ?? []);
      return values.map((value) => ({ [name]: String(value) }));
    });
    expect(filters.length).toBeGreaterThan(25);
    for (const filter of filters) {
      const { results, pageInfo } = await (callers[0] as ApiClient).page('/v1/inventory/assets', filter);
      expect([filter, results.length, pageInfo.hasNextPage]).toEqual([filter, 25, true]);
    }
  });

  it(
    `gets a documented response and never 5xx, in ${RUNS} runs`,
    async () => {
      const given = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(requests.any(), fc.nat(9), async ({ operationId, method, target, headers, body }, who) => {
          const caller = callers[who] as ApiClient;
          const { status } = await caller.send(method, target, { headers, ...(body === undefined ? {} : { body }) });
          const response = `${operationId} ${status}`;
          given.set(response, (given.get(response) ?? 0) + 1);
          expect(status).toBeLessThan(500);
        }),
        { numRuns: RUNS, ...(IS_LONG ? {} : { seed: 20_261_126 }) },
      );
      const told = [...given].sort().map(([response, times]) => `${response}: ${times}`);
      if (IS_LONG) process.stderr.write(`  ${told.join('\n  ')}\n`);
      // Refused requests alone would prove nothing.
      const succeeded = [...given.keys()].filter((response) => response.endsWith(' 200')).sort();
      const expected = operationsOf(contract).map(({ operation }) => `${operation.operationId} 200`);
      expect([...new Set([...succeeded, ...MOSTLY_REFUSED])].sort()).toEqual(expected.sort());
    },
    IS_LONG ? 600_000 : 180_000,
  );
});
