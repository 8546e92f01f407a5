import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { Page, PageRequest, ReadScope, WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { ImportRuns, type RunOfWorkspace } from '../domain/import-runs.port';
import type { ImportedSource, RunResult } from '../domain/recorded-run';
import { ImportFreshnessRow } from './import-run.row';
import { FIND, IS_SOURCE, LATEST, type RunJson, MARK_INTERRUPTED, TAKE_TURNS, toRun } from './run-statements';
import { SOURCE_LIST } from './source-list';

interface FoundRun {
  readonly slug: string;
  readonly run: RunJson;
}

const EVERYWHERE = { outsideTenants: true } as const;
const ofWorkspace = ({ slug, run }: FoundRun): RunOfWorkspace => ({ workspace: slug, run: toRun(run) });

@Injectable()
export class ImportRunsTypeorm extends ImportRuns {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {
    super();
  }

  async sources(scope: ReadScope, page: PageRequest): Promise<Page<ImportedSource>> {
    return SOURCE_LIST.page(this.database, scope, { filters: {} }, page);
  }

  async markInterrupted(): Promise<void> {
    await this.database.inTenant(EVERYWHERE, (manager) => manager.query(MARK_INTERRUPTED));
  }

  async latest(
    { workspaceId, source }: { readonly workspaceId: WorkspaceId | null; readonly source: string | null },
    limit: number,
  ): Promise<RunOfWorkspace[]> {
    const rows = await this.query<FoundRun>(workspaceId, LATEST, [limit, source, workspaceId]);
    return rows.map(ofWorkspace);
  }

  async find(id: string, workspaceId: WorkspaceId | null = null) {
    const [row] = await this.query<FoundRun & Pick<RunResult, 'errors' | 'warnings'>>(workspaceId, FIND, [
      id,
      workspaceId,
    ]);
    return row ? { ...ofWorkspace(row), errors: row.errors, warnings: row.warnings } : null;
  }

  async setStaleAfter(workspaceId: WorkspaceId, source: string, seconds: number | null): Promise<boolean> {
    const named = { workspace_id: workspaceId, source };
    return this.database.inTenant({ workspaceId }, async (manager) => {
      await manager.query(TAKE_TURNS, [workspaceId, source]);
      const isSource = (await manager.query<unknown[]>(IS_SOURCE, [workspaceId, source])).length > 0;
      const old = (await manager.findOneBy(ImportFreshnessRow, named))?.stale_after_seconds ?? null;
      // The alert of a source without asset and import can be ended.
      if (!isSource && (seconds !== null || old === null)) return false;
      if (old === seconds) return true;
      if (seconds === null) await manager.delete(ImportFreshnessRow, named);
      else {
        const row = { ...named, stale_after_seconds: seconds };
        await manager.upsert(ImportFreshnessRow, row, ['workspace_id', 'source']);
      }
      await this.audit.recordAct(manager, workspaceId, {
        action: 'source.stale_after_set',
        target: { type: 'IMPORT', id: source },
        changes: { staleAfterSeconds: { old, new: seconds } },
      });
      return true;
    });
  }

  private query<Row>(workspaceId: WorkspaceId | null, text: string, values: unknown[]): Promise<Row[]> {
    const scope = workspaceId ? { workspaceId } : EVERYWHERE;
    return this.database.inTenant(scope, (manager) => manager.query<Row[]>(text, values));
  }
}
