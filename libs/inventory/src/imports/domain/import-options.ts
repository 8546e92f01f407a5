import type { PersonAuthor } from '#libs/audit/operators';
import type { HideLimit } from './hide-limit';
import type { Format } from './import-files.port';
import type { BadLine, ImportProgress } from './import-report';
import type { RecordMap } from './maps/record-map';

export interface ImportOptions {
  readonly source: string;
  /** Paths of NDJSON or CSV files. `-` is standard input. */
  readonly files: readonly string[];
  /** True writes nothing and locks nothing that others change. */
  readonly dryRun: boolean;
  readonly missing: 'keep' | 'hide';
  /** The most that `hide` may hide. Null: what is plausible. */
  readonly hideAtMost?: HideLimit | null;
  /** Creates missing tag keys as platform keys. */
  readonly createTagKeys: 'platform' | null;
  /** True makes each warning an error of its record. */
  readonly strict?: boolean;
  /** A new computer with the serial number of one that the input no longer names is that asset. */
  readonly rekeyBy?: 'serialNumber' | null;
  /** Turns the items of the files into records. By default the files hold records. */
  readonly map?: RecordMap | null;
  /** By default the files tell their format. */
  readonly format?: Format | null;
  /** Whose act the import is. By default it is one of the operator. */
  readonly person?: PersonAuthor;
  /** The most bytes of a file, unpacked. By default any number. */
  readonly mostBytes?: number;
  /** Lines in one batch, by default 5,000. */
  readonly batchSize?: number;
  /** Throws once an operator has ended the import. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Receives every bad line in order, except those that waited for the end of the input: these come last. */
  readonly onBadLine?: (line: BadLine) => void;
}
