import { type TestOperator, openOperator } from '../support/operator';
import { type TestApp, startApp } from '../support/start-app';

describe('Two removals of a secret at once', () => {
  let app: TestApp;
  let operator: TestOperator;
  beforeAll(async () => {
    app = await startApp();
    operator = await openOperator(app);
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
  });

  it('leave one event and end the live token once', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    const remove = () => operator.applications.removeSecret(clientId);

    const [first, second] = await Promise.all([remove(), remove()]);

    expect(second?.generation).toBe(first?.generation);
    const events = `SELECT FROM audit_event WHERE target_id = $1 AND action = 'application.secret_removed'`;
    expect((await app.database.admin.query(events, [clientId])).rows).toHaveLength(1);
  });
});
