export { AuditModule, auditServices } from './audit.module';
export { AuditCheckpointStore } from './domain/audit-checkpoint-store.port';
export { ACTIONS, type AssetChange, type ChangeAuthor, type FieldChange } from './domain/audit-act';
export type { PublishedEvent } from './domain/published-event';
export { PublishedEvents } from './domain/published-events.port';
export { AuditEventQueryDto } from './http/audit-event-query.dto';
export { CheckpointKeys } from './system/checkpoint-keys';
export { AuditRecorder } from './typeorm/audit-recorder';
