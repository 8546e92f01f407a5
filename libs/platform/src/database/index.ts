export { columnList, toBoolean, toOwner, withColumn, withOwner } from './column-list';
export { dataSourceOptions, missingSessionSettings, poolOf } from './connections/data-source';
export { Database, READ_PATIENCE_MS, type TenantScope } from './database';
export { DatabaseProbe } from './database-probe';
export { DatabaseModule } from './database.module';
export { type BoundStatement, type TextRow, bind, prepared } from './pipelined-statements';
export { buildIndexConcurrently } from './schema/concurrent-index';
export { RolesNotApart, RuntimeRoleUnfit, migrate } from './schema/migrate';
export {
  BYPASSES_OR_IS_OWNER,
  IS_TOO_POWERFUL,
  RuntimeRoleTooPowerful,
  assertRuntimeRole,
} from './schema/runtime-role';
export { type SchemaPart } from './schema/schema-part';
export { tenantPolicy } from './schema/tenant-policy';
export { GATE_IS_OPEN } from './unit-of-work';
export { WorkspaceRows } from './workspace-rows';
