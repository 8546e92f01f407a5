import type { Page, PageRequest, ReadScope, WorkspaceId } from '#libs/kernel';
import type { ImportedSource, RecordedRun, RunResult } from './recorded-run';

export interface RunOfWorkspace {
  /** The slug. */
  readonly workspace: string;
  readonly run: RecordedRun;
}

/** Records of imports, and the sources that they name. */
export abstract class ImportRuns {
  /** Returns one page of the sources with an asset or a recorded import, ordered by code points. Runs as {@link latest} does. */
  abstract sources(scope: ReadScope, page: PageRequest): Promise<Page<ImportedSource>>;

  /** Marks imports whose process is gone as INTERRUPTED. */
  abstract markInterrupted(): Promise<void>;

  /** Returns the latest imports of every workspace or of one, newest first, each with the first 20 of its files. */
  abstract latest(
    wanted: { readonly workspaceId: WorkspaceId | null; readonly source: string | null },
    limit: number,
  ): Promise<RunOfWorkspace[]>;

  /** Returns one import of every workspace or of one, with its first errors and warnings, or null. */
  abstract find(
    id: string,
    workspaceId?: WorkspaceId | null,
  ): Promise<(RunOfWorkspace & Pick<RunResult, 'errors' | 'warnings'>) | null>;

  /**
   * Sets the age from which the last completed import of a source is stale; null clears it. Returns false when the
   * workspace has no such source.
   */
  abstract setStaleAfter(workspaceId: WorkspaceId, source: string, seconds: number | null): Promise<boolean>;
}
