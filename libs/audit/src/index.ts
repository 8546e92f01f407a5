export { AuditModule } from './audit.module';
export { type AssetChange, type AuditAct, type ChangeAuthor, type FieldChange } from './domain/audit-act';
export { CheckpointKeys } from './system/checkpoint-keys';
export { AuditRecorder } from './typeorm/audit-recorder';
