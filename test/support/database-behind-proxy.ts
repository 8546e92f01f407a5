import { TcpProxy } from './tcp-proxy';
import { type TestDatabase, createTestDatabase } from './test-database';

export interface DatabaseBehindProxy {
  /** `databaseUrl` leads through the proxy, `admin` does not. */
  readonly database: TestDatabase;
  readonly proxy: TcpProxy;
  close(): Promise<void>;
}

/** Creates a test database whose connections can be lost, delayed or silenced. */
export async function openDatabaseBehindProxy(): Promise<DatabaseBehindProxy> {
  const database = await createTestDatabase();
  const url = new URL(database.databaseUrl);
  const proxy = await TcpProxy.to(url.hostname, Number(url.port));
  url.port = String(proxy.port);
  const close = async (): Promise<void> => {
    await proxy.close();
    await database.drop();
  };
  return { database: { ...database, databaseUrl: url.href }, proxy, close };
}
