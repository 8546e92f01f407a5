import { Module } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Settings, SystemClock, readSecretFileSync } from '#libs/platform/config';
import { AuditService } from './application/audit.service';
import { AuditEvidence } from './domain/audit-evidence.port';
import { AuditTrail } from './domain/audit-trail.port';
import { AuditEvidenceSystem } from './system/audit-evidence.system';
import { AuditRecorder } from './typeorm/audit-recorder';
import { AuditTrailTypeorm } from './typeorm/audit-trail.typeorm';

export const auditEvidence = {
  provide: AuditEvidence,
  useFactory: (settings: Settings) => new AuditEvidenceSystem(readSecretFileSync(settings.auditKeyFile)),
  inject: [Settings],
};

/** Lets operators read and verify the audit, and records what they do. */
@Module({
  providers: [
    AuditService,
    auditEvidence,
    AuditRecorder,
    { provide: Clock, useClass: SystemClock },
    { provide: AuditTrail, useClass: AuditTrailTypeorm },
  ],
  exports: [AuditService, AuditRecorder],
})
export class AuditOperatorModule {}
