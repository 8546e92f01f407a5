import { Module, type Provider } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { Settings } from '#libs/platform/config';
import { KeyRereading } from '#libs/platform/keys';
import { CheckpointsService } from './application/checkpoints.service';
import { AuditEvidence } from './domain/audit-evidence.port';
import { PublishedEvents } from './domain/published-events.port';
import { AuditCheckpointStore } from './domain/audit-checkpoint-store.port';
import { AuditEventsController } from './http/audit-events.controller';
import { CheckpointController } from './http/checkpoint.controller';
import { AuditSealer } from './system/audit-sealer';
import { CheckpointKeys } from './system/checkpoint-keys';
import { CheckpointSignerSystem } from './system/checkpoint-signer.system';
import { watchSealing } from './system/audit-sealing-metrics';
import { treeHashes } from './system/tree-hashes';
import { PublishedEventsTypeorm } from './typeorm/published-events.typeorm';
import { AuditRecorder } from './typeorm/audit-recorder';
import { AuditCheckpointStoreTypeorm } from './typeorm/audit-checkpoint-store.typeorm';
import { StreamRecorder } from './typeorm/stream-recorder';
import { auditRecording } from './audit-operator.module';

/** Services that routes and pages call to read the audit. */
export const auditServices: Provider[] = [
  {
    provide: PublishedEvents,
    useFactory: (database: Database) => new PublishedEventsTypeorm(database, treeHashes),
    inject: [Database],
  },
  { provide: AuditCheckpointStore, useClass: AuditCheckpointStoreTypeorm },
];

/** Records audit events within the unit of work of a change, seals them, and lists them for clients. */
@Module({
  controllers: [AuditEventsController, CheckpointController],
  providers: [
    Clock,
    ...auditRecording,
    StreamRecorder,
    ...auditServices,
    {
      provide: AuditSealer,
      useFactory: (store: AuditCheckpointStore, evidence: AuditEvidence, clock: Clock, metrics: Metrics) => {
        const sealer = new AuditSealer(store, evidence, clock);
        watchSealing(metrics, sealer);
        return sealer;
      },
      inject: [AuditCheckpointStore, AuditEvidence, Clock, Metrics],
    },
    {
      provide: CheckpointKeys,
      useFactory: (settings: Settings, clock: Clock) => new CheckpointKeys(settings.signingKeysDir, clock),
      inject: [Settings, Clock],
    },
    {
      provide: CheckpointsService,
      useFactory: (store: AuditCheckpointStore, evidence: AuditEvidence, keys: CheckpointKeys, { baseUrl }: Settings) =>
        new CheckpointsService(store, evidence, new CheckpointSignerSystem(keys, new URL(baseUrl).host)),
      inject: [AuditCheckpointStore, AuditEvidence, CheckpointKeys, Settings],
    },
    {
      provide: KeyRereading,
      useFactory: (keys: CheckpointKeys) => new KeyRereading('checkpoint', keys),
      inject: [CheckpointKeys],
    },
  ],
  exports: [AuditRecorder, CheckpointKeys],
})
export class AuditModule {}
