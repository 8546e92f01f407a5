import type { WorkspaceId } from '#libs/kernel';
import type { ImportOptions } from './import-options';
import type { ImportRecord } from './import-record';
import type { ImportCounts } from './import-report';
import type { RunOutcome, RunRequest, RunResult } from './recorded-run';

/** A validated record with its place in the input. The place identifies the line and increases from line to line. */
export interface NumberedRecord {
  readonly place: number;
  readonly record: ImportRecord;
  /** The text of the line, returned when the record is refused. Null when it need not be kept. */
  readonly kept: string | null;
}

/** A record that was imported without a part of it. */
export interface Warning {
  readonly place: number;
  readonly reason: string;
  /** The reason as the record of the import keeps it. Absent when {@link reason} quotes no value. */
  readonly withoutValues?: string;
}

export interface Refusal extends Warning {
  readonly kept: string | null;
}

/**
 * The asset that a bad line names, as it was read. It is not hidden. Where computers are rekeyed, nor is one with the serial
 * number.
 */
export interface RefusedAsset {
  readonly externalId: string;
  readonly serialNumber?: unknown;
}

/** Results of a batch. Records that wait for their owner are stored, and not counted. */
export interface MergeOutcome {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: readonly Refusal[];
  /** Places of the records that wait. */
  readonly deferred: readonly number[];
  /** At most one for each record. */
  readonly warned: readonly Warning[];
}

/** Where `missing` is `hide`, {@link ImportSession.countMissing} will be called. */
export interface ImportSettings extends Pick<
  ImportOptions,
  'source' | 'dryRun' | 'missing' | 'createTagKeys' | 'strict' | 'rekeyBy' | 'person'
> {
  /** For the record of the import. A dry run leaves none. */
  readonly run: RunRequest;
}

/** Another import of the same source and workspace is running, or another one by the console. */
export class ImportAlreadyRunning extends Error {
  constructor(which: string) {
    super(`An import ${which} is already running in this workspace.`);
    this.name = 'ImportAlreadyRunning';
  }
}

/** Opens imports, one at a time for each source of a workspace and by people, and dry runs beside them. */
export abstract class ImportStore {
  /** @throws {@link ImportAlreadyRunning} */
  abstract open(workspaceId: WorkspaceId, settings: ImportSettings): Promise<ImportSession>;
}

/** One import from its first batch to its end. Each batch is stored completely or not at all. A dry run stores none. */
export abstract class ImportSession {
  /** Says what the workspace will not keep of a record: a value of a customer tag that is not its key's own. */
  abstract warningOf(record: ImportRecord): string | null;

  /**
   * Adds a record to the next batch, even while the previous one is merged. An external id must be unique in an import,
   * and an id in a batch.
   */
  abstract add(numbered: NumberedRecord): void;

  /**
   * Merges the records added since the last call as one batch. At most one earlier call may still be running. Values
   * set through the API are kept. Fails when the previous batch fails.
   *
   * `mayOverlap`: the work of this batch and the previous one may overlap. They name different assets, and no owner in this one
   * can be an employee in that one. `bad`: what the lines name that brought no record.
   */
  abstract merge(mayOverlap: boolean, bad: readonly RefusedAsset[]): Promise<MergeOutcome>;

  /**
   * Lets new computers be the asset of before with their serial number, which the input does not name. Call it once, when the
   * whole input and the employees who waited are merged, if it is known to name every asset. Yields their number, batch by
   * batch.
   */
  abstract rekey(): AsyncIterable<number>;

  /**
   * Refuses for this reason, batch by batch, what {@link rekey} may have found. Call it instead when the input may not name
   * every asset.
   */
  abstract refuseToRekey(reason: string): AsyncIterable<MergeOutcome>;

  /**
   * Merges the records that waited for their owners, batch by batch. Where the owner never came, an owner of before stays,
   * and there is a warning. Refuses new employees who own themselves or each other. Employees alone come first, before
   * {@link rekey}: whether the record of a computer is refused depends on its owner.
   */
  abstract mergeDeferred(which: 'employees' | 'all'): AsyncIterable<MergeOutcome>;

  /** Visible assets of the source before the import. */
  abstract readonly visibleBefore: number;
  /** True when the source had neither an asset before, not even a hidden one, nor a recorded import. */
  abstract readonly newSource: boolean;

  /** Counts the source's visible assets that the input did not name, batch by batch. */
  abstract countMissing(): AsyncIterable<number>;

  /** Hides them, and yields how many each batch has hidden. A dry run must not call it. */
  abstract hideMissing(): AsyncIterable<number>;

  /** Shows how far the import is, in its record. */
  abstract count(counts: ImportCounts): void;

  /**
   * Records how the import ended: of what failed, as far as Postgres still responds. A completed one leaves an audit event. A
   * dry run records nothing.
   * @throws when the workspace was deleted meanwhile
   */
  abstract end(outcome: Exclude<RunOutcome, 'RUNNING'>, result: RunResult): Promise<void>;

  /** Lets others import the source. */
  abstract close(): Promise<void>;
}
