import { FirstLines } from '../domain/first-lines';
import type { Format, ImportFiles } from '../domain/import-files.port';
import { parseImportRecord } from '../domain/import-record';
import { type ImportError, REPORTED } from '../domain/import-report';
import { InputPlaces } from '../domain/input-places';
import type { RecordMap } from '../domain/maps/record-map';

/** What an import by a map would read. */
export interface MapTrialReport {
  /** The first records, as lines of NDJSON would have them. */
  readonly items: readonly unknown[];
  /** Items of the whole input that the map leaves out, and those that fail. */
  readonly skipped: number;
  readonly failed: number;
  /** The first 1,000 failures. */
  readonly errors: readonly ImportError[];
}

/** Tries a map on files, without a database. */
export class MapTrial {
  constructor(private readonly files: ImportFiles) {}

  /** Reads all files, and returns the first `limit` records. */
  async run(map: RecordMap, files: readonly string[], format: Format | null, limit: number): Promise<MapTrialReport> {
    const items: unknown[] = [];
    const errors: ImportError[] = [];
    const firstLines = new FirstLines();
    const places = new InputPlaces(files);
    let [skipped, failed] = [0, 0];
    for await (const lines of this.files.read(files, () => undefined, { map, format })) {
      for (const line of lines) {
        if ('leftOut' in line) {
          skipped += 1;
          continue;
        }
        const place = places.placeOf(line);
        const reason = 'fault' in line ? line.fault : faultOf(line.value, firstLines, places, place);
        if (reason === null) {
          if (items.length < limit && 'value' in line) items.push(line.value);
          continue;
        }
        failed += 1;
        if (errors.length < REPORTED) errors.push({ ...places.at(place), reason });
      }
    }
    return { items, skipped, failed, errors };
  }
}

function faultOf(value: unknown, firstLines: FirstLines, places: InputPlaces, place: number): string | null {
  const parsed = parseImportRecord(value);
  if (!('record' in parsed)) return parsed.reasons.join(' ');
  const first = firstLines.take(parsed.record.externalId, place);
  return first === null ? null : places.repeats(first);
}
