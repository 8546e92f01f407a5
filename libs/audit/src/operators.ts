export { AuditArchiveService } from './application/audit-archive.service';
export { AuditService, type AuditVerdict } from './application/audit.service';
export { AuditOperatorModule } from './audit-operator.module';
export { type EventKind, type RecordedEvent, kindOf } from './domain/audit-event';
export { type AuditAct } from './domain/audit-act';
export { AuditRecorder } from './typeorm/audit-recorder';
