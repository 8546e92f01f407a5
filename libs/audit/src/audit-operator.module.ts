import { Module } from '@nestjs/common';
import { Settings, readSecretFileSync } from '#libs/platform/config';
import { AuditService } from './application/audit.service';
import { AuditEvidence } from './domain/audit-evidence.port';
import { AuditTrail } from './domain/audit-trail.port';
import { AuditEvidenceSystem } from './system/audit-evidence.system';
import { AuditTrailTypeorm } from './typeorm/audit-trail.typeorm';

export const auditEvidence = {
  provide: AuditEvidence,
  useFactory: (settings: Settings) => new AuditEvidenceSystem(readSecretFileSync(settings.auditKeyFile)),
  inject: [Settings],
};

/** Lets operators read and verify the audit. */
@Module({
  providers: [AuditService, auditEvidence, { provide: AuditTrail, useClass: AuditTrailTypeorm }],
  exports: [AuditService],
})
export class AuditOperatorModule {}
