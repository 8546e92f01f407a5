import { type TestOperator, openOperator } from '../support/operator';
import { type TestApp, startApp } from '../support/start-app';

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

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

  it.each([
    ['removeSecret', 'application.secret_removed'],
    ['endOldSecret', 'application.secret_ended'],
  ] as const)('leave one event and end the live token once (%s)', async (removal, action) => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await operator.applications.rotateSecret(clientId, 3_600);
    const { admin } = app.database;
    const remove = () => operator.applications[removal](clientId);

    await admin.query('BEGIN');
    await admin.query('SELECT FROM application WHERE client_id = $1 FOR UPDATE', [clientId]);
    const removals = Promise.all([remove(), remove()]);
    while ((await admin.query(WAITING)).rowCount !== 2) await admin.query('SELECT pg_stat_clear_snapshot()');
    await admin.query('COMMIT');
    const [first, second] = await removals;

    expect(second?.generation).toBe(first?.generation);
    const events = 'SELECT FROM audit_event WHERE target_id = $1 AND action = $2';
    expect((await admin.query(events, [clientId, action])).rows).toHaveLength(1);
  });
});
