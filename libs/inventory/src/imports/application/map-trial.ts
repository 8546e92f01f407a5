import type { Format, ImportFiles, InputLine } from '../domain/import-files.port';
import { type ImportError, REPORTED } from '../domain/import-report';
import { InputPlaces } from '../domain/input-places';
import type { RecordMap } from '../domain/maps/record-map';
import { RecordCheck } from '../domain/record-check';

/** The records that an import by a map would read. */
export interface MapTrialReport {
  /** The first records, as lines of NDJSON would have them. */
  readonly items: readonly unknown[];
  /** Items of the whole input that the map leaves out, and those that fail. */
  readonly skipped: number;
  readonly failed: number;
  /** The first 1,000 failures. */
  readonly errors: readonly ImportError[];
  /** Members of the map that no record has: their paths may be misspelled. Empty when there is no record. */
  readonly unset: readonly string[];
}

/** Tries a map on files, without a database. */
export class MapTrial {
  constructor(private readonly files: ImportFiles) {}

  /** Reads all files, and returns the first `limit` records. */
  async run(map: RecordMap, files: readonly string[], format: Format | null, limit: number): Promise<MapTrialReport> {
    const items: unknown[] = [];
    const errors: ImportError[] = [];
    const check = new RecordCheck();
    const places = new InputPlaces(files);
    const unset = new Set(map.members);
    let [records, skipped, failed] = [0, 0, 0];
    const fail = (line: InputLine, reasons: readonly string[]): void => {
      failed += 1;
      if (errors.length < REPORTED) errors.push({ ...places.at(places.placeOf(line)), reason: reasons.join(' ') });
    };
    for await (const lines of this.files.read(files, () => undefined, { map, format })) {
      for (const line of lines) {
        if ('leftOut' in line) skipped += 1;
        else if ('fault' in line) fail(line, [line.fault]);
        else {
          const { record, reasons, first } = check.check(line.value, places.placeOf(line));
          if (record !== null) {
            records += 1;
            if (items.length < limit) items.push(line.value);
            for (const member of unset) if (has(line.value, member.split('.'))) unset.delete(member);
          } else if (first === null) fail(line, reasons);
          else if (!first.same) fail(line, [...reasons, places.repeats(first.place)]);
        }
      }
    }
    return { items, skipped, failed, errors, unset: records === 0 ? [] : [...unset] };
  }
}

function has(value: unknown, [name = '', ...inner]: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return inner.length === 0 || has((value as Readonly<Record<string, unknown>>)[name], inner);
}
