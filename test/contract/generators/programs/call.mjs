// Calls the API with the client of openapi-generator for TypeScript: node call.mjs CLIENT ORIGIN CLIENT_ID CLIENT_SECRET
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const [, , client, basePath, clientId, clientSecret] = process.argv;
const { default: generated } = await import(pathToFileURL(client).href);
const { AuthenticationApi, Classification, Configuration, InventoryApi } = generated;

const form = { grantType: 'client_credentials', clientId, clientSecret };
const { accessToken } = await new AuthenticationApi(new Configuration({ basePath })).issueToken(form);
const api = new InventoryApi(new Configuration({ basePath, accessToken: `Bearer ${accessToken}` }));

const firstOf = async (categoryKey) => (await api.listAssets({ categoryKey, pageSize: 5 })).results[0];
const update = (id, assetMetadataPatchRequest) =>
  api.updateAsset({ id, idempotencyKey: randomUUID(), assetMetadataPatchRequest });

assert.notEqual((await firstOf('INFORMATION')).dataStored, null);
const cloud = await firstOf('CLOUD');
assert.equal(cloud.dataStored, null);
assert.ok(cloud.createdAt instanceof Date);
assert.ok(cloud.lastCheckedAt === null || cloud.lastCheckedAt instanceof Date);

const classified = await update(cloud.id, { description: 'Reviewed', classification: Classification.Internal });
assert.deepEqual([classified.description, classified.classification], ['Reviewed', 'INTERNAL']);
const kept = await update(cloud.id, { description: null, classification: null });
assert.deepEqual([kept.description, kept.classification], ['Reviewed', 'INTERNAL']);
