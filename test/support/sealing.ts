import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { AuditEvidenceSystem } from '../../libs/audit/src/system/audit-evidence.system';
import { AuditSealer } from '../../libs/audit/src/system/audit-sealer';
import { AuditCheckpointStoreTypeorm } from '../../libs/audit/src/typeorm/audit-checkpoint-store.typeorm';
import { openDataSource } from './database-connection';
import type { TestApp } from './start-app';

/** Seals audit events of an API at once, which would take it five seconds. */
export class Sealing {
  private constructor(
    private readonly app: TestApp,
    private readonly source: DataSource,
    private readonly sealer: AuditSealer,
  ) {}

  static async of(app: TestApp): Promise<Sealing> {
    const source = await openDataSource(app.database.databaseUrl);
    const evidence = new AuditEvidenceSystem(readFileSync(app.settings.auditKeyFile));
    const store = new AuditCheckpointStoreTypeorm(new Database(source));
    return new Sealing(app, source, new AuditSealer(store, evidence, new Clock()));
  }

  /** Seals everything that waits now. */
  static async once(app: TestApp): Promise<void> {
    const sealing = await Sealing.of(app);
    await sealing.seal();
    await sealing.close();
  }

  /** Seals everything that waits, also while the API does so itself. */
  async seal(): Promise<void> {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(10)) {
      await this.sealer.sealAll();
      const { rows } = await this.app.database.admin.query<{ waits: boolean }>(
        'SELECT EXISTS (SELECT FROM audit_event WHERE sequence IS NULL) AS waits',
      );
      if (!rows[0]?.waits) return;
    }
    throw new Error('Something is never sealed.');
  }

  async close(): Promise<void> {
    await this.source.destroy();
  }
}
