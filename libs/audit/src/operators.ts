export { AuditArchiveService } from './application/audit-archive.service';
export { AuditOperatorModule } from './audit-operator.module';
export { type EventKind, type RecordedEvent, kindOf } from './domain/audit-event';
export { type AuditAct } from './domain/audit-act';
export { AuditRecorder } from './typeorm/audit-recorder';
export { type AuditVerdict, RecordedEvents } from './typeorm/recorded-events';
