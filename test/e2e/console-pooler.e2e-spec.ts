import { DataSource } from 'typeorm';
import { type TestConsole, startConsole } from '../support/console-setting';

describe.each(['on', 'off'])('The console with DATABASE_PREPARED_STATEMENTS=%s', (mode) => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startConsole({ DATABASE_PREPARED_STATEMENTS: mode });
  });
  afterAll(() => console.stop());

  it(`prepares ${mode === 'on' ? 'its' : 'no'} statements`, async () => {
    const viewer = await console.signIn((await console.aWorkspace()).slug, 'viewer');
    expect((await viewer.get('/people')).status).toBe(403);

    const names = await console.app.get(DataSource).query<unknown[]>('SELECT name FROM pg_prepared_statements');

    expect(names.length > 0).toBe(mode === 'on');
  });
});
