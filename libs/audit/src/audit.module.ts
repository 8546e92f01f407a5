import { Module } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { Settings, SystemClock } from '#libs/platform/config';
import { KeyRereading } from '#libs/platform/keys';
import { CheckpointsService } from './application/checkpoints.service';
import { AuditEvidence } from './domain/audit-evidence.port';
import { PublishedEvents } from './domain/published-events.port';
import { AuditSealStore } from './domain/audit-seal-store.port';
import { AuditTreeStore } from './domain/audit-tree-store.port';
import { AuditEventsController } from './http/audit-events.controller';
import { CheckpointController } from './http/checkpoint.controller';
import { AuditSealer } from './system/audit-sealer';
import { CheckpointKeys } from './system/checkpoint-keys';
import { CheckpointSignerSystem } from './system/checkpoint-signer.system';
import { watchSealing } from './system/audit-sealing-metrics';
import { treeHashes } from './system/tree-hashes';
import { PublishedEventsTypeorm } from './typeorm/published-events.typeorm';
import { AuditRecorder } from './typeorm/audit-recorder';
import { AuditSealStoreTypeorm } from './typeorm/audit-seal-store.typeorm';
import { StreamRecorder } from './typeorm/stream-recorder';
import { AuditTreeStoreTypeorm } from './typeorm/audit-tree-store.typeorm';
import { auditEvidence } from './audit-operator.module';

/** Records audit events within the unit of work of a change, seals them, and lists them for clients. */
@Module({
  controllers: [AuditEventsController, CheckpointController],
  providers: [
    { provide: Clock, useClass: SystemClock },
    auditEvidence,
    {
      provide: AuditRecorder,
      useFactory: (evidence: AuditEvidence, clock: Clock) => new AuditRecorder(evidence, clock),
      inject: [AuditEvidence, Clock],
    },
    StreamRecorder,
    {
      provide: PublishedEvents,
      useFactory: (database: Database) => new PublishedEventsTypeorm(database, treeHashes),
      inject: [Database],
    },
    { provide: AuditSealStore, useClass: AuditSealStoreTypeorm },
    { provide: AuditTreeStore, useClass: AuditTreeStoreTypeorm },
    {
      provide: AuditSealer,
      useFactory: (
        store: AuditSealStore,
        trees: AuditTreeStore,
        evidence: AuditEvidence,
        clock: Clock,
        metrics: Metrics,
      ) => {
        const sealer = new AuditSealer(store, trees, evidence, clock);
        watchSealing(metrics, sealer);
        return sealer;
      },
      inject: [AuditSealStore, AuditTreeStore, AuditEvidence, Clock, Metrics],
    },
    {
      provide: CheckpointKeys,
      useFactory: (settings: Settings, clock: Clock) => new CheckpointKeys(settings.signingKeysDir, clock),
      inject: [Settings, Clock],
    },
    {
      provide: CheckpointsService,
      useFactory: (trees: AuditTreeStore, evidence: AuditEvidence, keys: CheckpointKeys, { baseUrl }: Settings) =>
        new CheckpointsService(trees, evidence, new CheckpointSignerSystem(keys, new URL(baseUrl).host)),
      inject: [AuditTreeStore, AuditEvidence, CheckpointKeys, Settings],
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
