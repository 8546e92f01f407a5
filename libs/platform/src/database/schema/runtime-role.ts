import type { DataSource } from 'typeorm';

/** SQL about a row of pg_roles: row-level security does not restrict the role, or a role that it may become. */
const BYPASSES_ROW_SECURITY = `rolsuper OR rolbypassrls
  OR EXISTS (SELECT FROM pg_class WHERE relname = 'asset' AND pg_has_role(pg_roles.oid, relowner, 'MEMBER'))`;

/** The same, for connections of the owner. It also holds before there are tables. */
export const BYPASSES_OR_IS_OWNER = `${BYPASSES_ROW_SECURITY} OR pg_has_role(pg_roles.oid, current_user, 'MEMBER')`;

/** Says of a role that the above is true. */
export const IS_TOO_POWERFUL = 'is a superuser, has BYPASSRLS, owns the tables or is a member of their owner';

/** Refuses a role that bypasses row-level security. Outside production it only warns. */
export async function assertRuntimeRole(
  dataSource: DataSource,
  production: boolean,
  warn: (message: string) => void,
): Promise<void> {
  const [role] = await dataSource.query<{ powerful: boolean }[]>(
    `SELECT ${BYPASSES_ROW_SECURITY} AS powerful FROM pg_roles WHERE rolname = current_user`,
  );
  if (!role?.powerful) return;
  const refusal = `DATABASE_URL connects as a role that ${IS_TOO_POWERFUL}; it must be none of these.`;
  if (production) throw new Error(refusal);
  warn(refusal);
}
