import { randomBytes, randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { AuditArchiveService, type AuditVerdict, RecordedEvents } from '#libs/audit/operators';
import { type AssetId, Clock, type WorkspaceId, applicationId, assetId } from '#libs/kernel';
import { ChangeFeed, History } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import { sealBatch } from '../../libs/audit/src/domain/audit-seal';
import type { FieldChange } from '../../libs/audit/src/domain/audit-act';
import { AuditEvidenceSystem } from '../../libs/audit/src/system/audit-evidence.system';
import { ArchiveFilesSystem } from '../../libs/audit/src/system/archive-files.system';
import { AuditSealer } from '../../libs/audit/src/system/audit-sealer';
import { AssetRepositoryTypeorm } from '../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { AuditArchiveStoreTypeorm, forgetAudit } from '../../libs/audit/src/typeorm/audit-archive-store.typeorm';
import { AuditRecorder } from '../../libs/audit/src/typeorm/audit-recorder';
import { AuditCheckpointStoreTypeorm } from '../../libs/audit/src/typeorm/audit-checkpoint-store.typeorm';
import { openDataSource, operatorDataSource } from './database-connection';
import { type TestDatabase, addWorkspace, createTestDatabase } from './test-database';

type Fields = Readonly<Record<string, FieldChange>>;

/** Unique among all events. */
const aChange = (): Fields => ({
  description: { old: null, new: `Zugriffsprotokolle “Süd” 🗝 ${randomUUID()}` },
  tags: { old: [], new: ['env', 'team'] },
});

/** The audit of the API and of operators, on a database of its own. */
export class AuditSetting {
  readonly key = randomBytes(32);
  readonly audit: RecordedEvents;
  /** The API's connection, as the runtime role. */
  readonly api: Database;
  private readonly operator: Database;
  private readonly recorder: AuditRecorder;
  private readonly apiSources: DataSource[];

  private constructor(
    readonly database: TestDatabase,
    private readonly owner: DataSource,
    apiSource: DataSource,
  ) {
    this.apiSources = [apiSource];
    this.api = new Database(apiSource);
    this.operator = new Database(owner);
    this.recorder = new AuditRecorder(this.evidence(), new Clock());
    this.audit = this.auditUnder(this.key);
  }

  static async open(): Promise<AuditSetting> {
    const database = await createTestDatabase();
    const owner = await operatorDataSource(database, 4);
    return new AuditSetting(database, owner, await openDataSource(database.databaseUrl));
  }

  async close(): Promise<void> {
    for (const source of [this.owner, ...this.apiSources]) await source.destroy();
    await this.database.drop();
  }

  auditUnder(key: Buffer): RecordedEvents {
    return new RecordedEvents(this.owner, new AuditEvidenceSystem(key));
  }

  evidence(): AuditEvidenceSystem {
    return new AuditEvidenceSystem(this.key);
  }

  /** The sealer of one instance. Pass `database` for another instance. */
  sealer(database = this.api, intervalMs?: number): AuditSealer {
    return new AuditSealer(this.checkpointStore(database), this.evidence(), new Clock(), intervalMs);
  }

  archiveStore(): AuditArchiveStoreTypeorm {
    return new AuditArchiveStoreTypeorm(this.operator);
  }

  forgetAudit(workspaceId: WorkspaceId): Promise<void> {
    return this.operator.inTenant({ workspaceId }, (manager) => forgetAudit(manager, workspaceId));
  }

  /** One run of the operators' command. Its checkpoints carry no signature. */
  archive(store = this.archiveStore(), files = new ArchiveFilesSystem()): AuditArchiveService {
    const sign = (_workspace: WorkspaceId, size: number, root: string): string => `${size}\n${root}\n`;
    return new AuditArchiveService(store, this.evidence(), { sign }, files, this.checkpointStore());
  }

  checkpointStore(database = this.api): AuditCheckpointStoreTypeorm {
    return new AuditCheckpointStoreTypeorm(database);
  }

  async anotherInstance(): Promise<Database> {
    const source = await openDataSource(this.database.databaseUrl);
    this.apiSources.push(source);
    return new Database(source);
  }

  async aWorkspace(slug?: string): Promise<WorkspaceId> {
    return addWorkspace(this.database.admin, slug);
  }

  /** Records one update that changed several assets, as the API does. */
  async record(
    workspace: WorkspaceId,
    assets = 1,
    by: {
      readonly clientId?: string;
      readonly fields?: Fields;
      readonly database?: Database;
      /** Runs after the assets were locked and before their changes are recorded. */
      readonly meanwhile?: () => Promise<void>;
    } = {},
  ): Promise<AssetId[]> {
    const ids = Array.from({ length: assets }, () => assetId(randomUUID()));
    const author = {
      applicationId: applicationId(randomUUID()),
      clientId: by.clientId ?? 'ci_test',
      requestId: 'req-1',
      keyHash: 'ab'.repeat(32),
    };
    const changes = ids.map((id) => ({ assetId: id, fields: by.fields ?? aChange() }));
    const database = by.database ?? this.api;
    const repository = new AssetRepositoryTypeorm(
      database,
      this.recorder,
      new ChangeFeed(database),
      new History(database),
    );
    await database.unitOfWork({ workspaceId: workspace }, async () => {
      await repository.lock(workspace, []);
      await by.meanwhile?.();
      const statement = this.recorder.statement(workspace, author, changes);
      await database.write({ workspaceId: workspace }, [statement]);
    });
    return ids;
  }

  /** Creates six sealed events in three batches of two, and two unsealed events. */
  async anAudit(): Promise<WorkspaceId> {
    const workspace = await this.aWorkspace();
    for (let batch = 0; batch < 3; batch += 1) {
      await this.record(workspace, 2);
      await this.seal(workspace);
    }
    await this.record(workspace, 2);
    return workspace;
  }

  /** Seals waiting events of this workspace only. */
  async seal(workspace: WorkspaceId, sealedAt = Date.now()): Promise<void> {
    await this.checkpointStore().sealNext(workspace, 1_000, (before, events) =>
      sealBatch(this.evidence(), workspace, before, events, sealedAt),
    );
  }

  /** Changes rows as an attacker could who controls the database but not the key. */
  async tamper(workspace: WorkspaceId, ...statements: string[]): Promise<void> {
    for (const statement of statements) {
      const values = statement.includes('$1') ? [workspace] : [];
      const { rowCount } = await this.database.admin.query(statement, values);
      if (rowCount === 0) throw new Error(`touched nothing: ${statement}`);
    }
  }

  /** Verifies one workspace. Returns the result without the workspace. */
  async verify(workspace: WorkspaceId, audit = this.audit): Promise<AuditVerdict['firstBad'] | 'ok'> {
    const verdict = await audit.verify([workspace]);
    if (verdict.ok !== (verdict.firstBad === null)) throw new Error('ok contradicts firstBad');
    return verdict.firstBad ?? 'ok';
  }
}
