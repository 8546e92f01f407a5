export { type AuditArchive, AuditArchiveService } from './application/audit-archive.service';
export { AuditOperatorModule, auditRecording } from './audit-operator.module';
export { type EventKind, type RecordedEvent, kindOf } from './domain/audit-event';
export type { AuditAct, PersonAuthor } from './domain/audit-act';
export { forgetAudit } from './typeorm/audit-archive-store.typeorm';
export { AuditRecorder } from './typeorm/audit-recorder';
export { AUDIT_TABLES } from './typeorm/schema';
export { type AuditVerdict, RecordedEvents } from './typeorm/recorded-events';
