import { openEmbeddedPostgres } from '../../libs/local-postgres/src/embedded-postgres';

/**
 * A program that uses the embedded Postgres: `node -r typescript-register.cjs embedded-postgres-user.ts LOCAL_DIR`.
 * Reports events as JSON lines, and closes the database when its input ends.
 */
function tell(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function main(localDir: string): Promise<void> {
  const postgres = await openEmbeddedPostgres({ localDir, say: (said) => tell({ said }) });
  tell({ opened: { migrationDatabaseUrl: postgres.migrationDatabaseUrl, databaseUrl: postgres.databaseUrl } });
  for await (const ignored of process.stdin) void ignored;
  await postgres.close();
  tell({ closed: true });
}

main(process.argv[2] ?? '').catch((error: Error) => {
  tell({ fault: { name: error.name, message: error.message } });
  process.exitCode = 1;
});
