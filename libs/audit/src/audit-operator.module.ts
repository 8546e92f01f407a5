import { Module } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { Settings } from '#libs/platform/config';
import { readSecret } from '#libs/platform/keys';
import { AUDIT_KEY } from './system/audit-key';
import { AuditArchiveService } from './application/audit-archive.service';
import { AuditEvidence } from './domain/audit-evidence.port';
import { ArchiveFilesSystem } from './system/archive-files.system';
import { AuditEvidenceSystem } from './system/audit-evidence.system';
import { CheckpointKeys } from './system/checkpoint-keys';
import { CheckpointSignerSystem } from './system/checkpoint-signer.system';
import { AuditArchiveStoreTypeorm } from './typeorm/audit-archive-store.typeorm';
import { AuditCheckpointStoreTypeorm } from './typeorm/audit-checkpoint-store.typeorm';
import { AuditRecorder } from './typeorm/audit-recorder';
import { RecordedEvents } from './typeorm/recorded-events';

const auditEvidence = {
  provide: AuditEvidence,
  useFactory: (settings: Settings) => new AuditEvidenceSystem(readSecret(AUDIT_KEY, settings)),
  inject: [Settings],
};

/** Records what applications, operators and people of the console do. */
export const auditRecording = [
  auditEvidence,
  {
    provide: AuditRecorder,
    useFactory: (evidence: AuditEvidence, clock: Clock, { operatorName }: Settings) =>
      new AuditRecorder(evidence, clock, operatorName),
    inject: [AuditEvidence, Clock, Settings],
  },
];

/** Lets operators read and verify the audit, and records what they do. */
@Module({
  providers: [
    RecordedEvents,
    ...auditRecording,
    Clock,
    {
      provide: AuditArchiveService,
      useFactory: async (database: Database, evidence: AuditEvidence, settings: Settings, clock: Clock) => {
        const keys = new CheckpointKeys(settings.signingKeysDir, clock);
        await keys.reread();
        const signer = new CheckpointSignerSystem(keys, new URL(settings.baseUrl).host);
        const checkpoints = new AuditCheckpointStoreTypeorm(database);
        const store = new AuditArchiveStoreTypeorm(database);
        return new AuditArchiveService(store, evidence, signer, new ArchiveFilesSystem(), checkpoints);
      },
      inject: [Database, AuditEvidence, Settings, Clock],
    },
  ],
  exports: [AuditArchiveService, AuditRecorder, RecordedEvents],
})
export class AuditOperatorModule {}
