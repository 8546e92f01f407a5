export { type ChangePage, type Changes, type CursorStore, type FollowOptions } from './changes';
export {
  type Answer,
  type CallOptions,
  type ClientOptions,
  ComplianceClient,
  type FindOptions,
  type UpdateOptions,
  type WriteOptions,
} from './compliance-client';
export { type PrivateKey, type ProofOptions } from './client-proof';
export { type ProblemCode, type components, type operations, type paths } from './contract';
export { type CheckpointStore, type Export, type ExportOptions, type ExportedItems } from './export';
export { FileTokenStore } from './file-token-store';
export { MemoryTokenStore } from './memory-token-store';
export { type Page, type Pages } from './pages';
export { ConnectionLost, type InputFault, Problem } from './problem';
export { type RedisCommand, RedisTokenStore } from './redis-token-store';
export {
  type Asset,
  type AssetCategory,
  type AssetChange,
  type AssetHistoryEntry,
  type AssetSummary,
  type ComputerSummary,
  type SummaryQuery,
  type ComputerHistoryEntry,
  type HistoryQuery,
  type AssetChangeQuery,
  type AssetExportQuery,
  type AssetPatch,
  type AssetQuery,
  type AssetUpdate,
  type AuditEvent,
  type AuditEventPage,
  type AuditEventQuery,
  type BulkUpdate,
  type BulkUpdateSummary,
  type CategoryQuery,
  type Computer,
  type ComputerChange,
  type ComputerChangeQuery,
  type ComputerExportQuery,
  type ComputerQuery,
  type Health,
  type Me,
  type Source,
  type SourceQuery,
  type TagKey,
  type TagKeyQuery,
} from './resources';
export { type RetryPolicy } from './retry';
export { LOCK_MS, type StoredToken, type TokenStore, type Unlock } from './token-store';
