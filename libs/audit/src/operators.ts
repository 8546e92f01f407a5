export { AuditService, type AuditVerdict } from './application/audit.service';
export { AuditOperatorModule } from './audit-operator.module';
export { type RecordedEvent } from './domain/audit-event';
