import type { DataSource } from 'typeorm';

/** Row-level security does not restrict the role of DATABASE_URL. */
export class RuntimeRoleTooPowerful extends Error {
  constructor() {
    super(
      'DATABASE_URL connects as a role that is a superuser, has BYPASSRLS or owns the tables; it must be none of these.',
    );
    this.name = 'RuntimeRoleTooPowerful';
  }
}

/** Refuses a role that bypasses row-level security. Outside production it only warns. */
export async function assertRuntimeRole(
  dataSource: DataSource,
  production: boolean,
  warn: (message: string) => void,
): Promise<void> {
  const [role] = await dataSource.query<{ powerful: boolean }[]>(`
    SELECT rolsuper OR rolbypassrls
           OR EXISTS (SELECT FROM pg_class WHERE relname = 'asset' AND pg_has_role(relowner, 'MEMBER')) AS powerful
      FROM pg_roles WHERE rolname = current_user`);
  if (!role?.powerful) return;
  const refusal = new RuntimeRoleTooPowerful();
  if (production) throw refusal;
  warn(refusal.message);
}
