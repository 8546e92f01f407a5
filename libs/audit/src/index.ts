export { AuditModule, auditServices } from './audit.module';
export { AuditCheckpointStore } from './domain/audit-checkpoint-store.port';
export { type AssetChange, type AuditAct, type ChangeAuthor, type FieldChange } from './domain/audit-act';
export { type HashedEvent, PublishedEvents } from './domain/published-events.port';
export { AuditEventQueryDto } from './http/audit-event-query.dto';
export { CheckpointKeys } from './system/checkpoint-keys';
export { AuditRecorder } from './typeorm/audit-recorder';
