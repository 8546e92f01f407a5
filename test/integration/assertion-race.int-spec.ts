import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { readClientKeys } from '../../libs/auth/src/jwt/public-jwks';
import { GrantRepositoryTypeorm } from '../../libs/auth/src/typeorm/grant-repository.typeorm';
import { asApi } from '../support/as-api';
import { type TestOperator, openOperator } from '../support/operator';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { someoneWaits } from '../support/waiting-sessions';

describe('Two requests at once with one assertion', () => {
  let app: TestApp;
  let other: TestApp;
  let operator: TestOperator;
  beforeAll(async () => {
    app = await startApp();
    other = await startInstance(app);
    operator = await openOperator(app);
  });
  afterAll(async () => {
    await operator.close();
    await other.stop();
    await app.stop();
  });

  it('get one token, which goes on as one of the key when the old secret ends', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    await operator.clientKeys.add(clientId, await readClientKeys(JSON.stringify(publicKey.export({ format: 'jwk' }))));
    await operator.applications.rotateSecret(clientId, 60);
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: app.settings.baseUrl, jti: randomUUID() })
      .setExpirationTime('1 minute')
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    };

    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT FROM application WHERE client_id = $1 FOR UPDATE', [clientId]);
    const requests = Promise.all([app, other].map((instance) => instance.client().requestToken(form)));
    await someoneWaits(app.database, 2);
    await admin.query('COMMIT');
    expect((await requests).map(({ status }) => status).sort()).toEqual([200, 401]);
    const before = await operator.applications.find(clientId);
    const after = await operator.applications.endOldSecret(clientId);

    expect(before?.credentials.find(({ type }) => type === 'KEY')?.lastUsedAt).toEqual(before?.issuedAt);
    expect(after?.generation).toBe(before?.generation);
  });

  it('get none when the assertion was over before their turn came', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    const { publicKey } = generateKeyPairSync('ed25519');
    await operator.clientKeys.add(clientId, await readClientKeys(JSON.stringify(publicKey.export({ format: 'jwk' }))));
    const jtiDigest = Buffer.from('used');
    const begun = await asApi(app, async (database) => {
      const grants = new GrantRepositoryTypeorm(database);
      const found = await grants.findWithKeys(clientId, jtiDigest);
      if (!found) return [];
      const proven = { keyId: found.keys[0]?.id ?? '', jtiDigest, expiresAt: new Date(Date.now() - 1_000) };
      return Promise.all([0, 1].map(() => grants.beginGeneration(found.grant, proven, randomUUID())));
    });
    expect(begun).toEqual([null, null]);
  });
});
