/**
 * SQL of a migration that gives a new table with a `workspace_id` to tenants: a role sees and writes the rows of its own
 * workspace only. `ownerSeesAll` lets the owner, and functions with the owner's rights, work across workspaces.
 */
export function tenantPolicy(
  table: string,
  { ownerSeesAll = false }: { readonly ownerSeesAll?: boolean } = {},
): string {
  const ownWorkspace = `workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid`;
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${table} USING (${ownWorkspace});
    ${ownerSeesAll ? `CREATE POLICY operator ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);` : ''}
  `;
}
