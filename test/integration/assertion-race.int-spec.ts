import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { readClientKeys } from '../../libs/auth/src/jwt/public-jwks';
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
});
