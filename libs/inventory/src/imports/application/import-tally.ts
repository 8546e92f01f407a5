import { cut, storable } from '#libs/kernel';
import { type BadLine, type ImportError, type ImportReport, REPORTED } from '../domain/import-report';
import type { Warning } from '../domain/import-store.port';
import { type InputPlaces, nameOfFile } from '../domain/input-places';
import type { KeptLine } from '../domain/kept-line';
import { NO_COUNTS, type RunResult } from '../domain/recorded-run';

/** Characters of a reason in the record, which stays for long. */
const MOST_RECORDED = 300;

/** Counts an import, and keeps the first of its warnings and bad lines. */
export class ImportTally {
  readonly counts = { ...NO_COUNTS };
  private readonly warnings: Warning[] = [];
  private readonly errors: Warning[] = [];

  constructor(
    private readonly places: InputPlaces,
    private readonly onBadLine: ((line: BadLine) => void) | undefined,
  ) {}

  warn(warning: Warning): void {
    this.counts.warned += 1;
    if (this.warnings.length < REPORTED) this.warnings.push(warning);
  }

  fail(lines: readonly BadLine[]): void {
    this.counts.failed += lines.length;
    for (const line of [...lines].sort(byPlace)) {
      this.onBadLine?.(line);
      const { place, reason, withoutValues = reason } = line;
      if (this.errors.length < REPORTED) this.errors.push({ place, reason, withoutValues });
    }
  }

  badLine(fault: Warning, kept: KeptLine | null): BadLine {
    return { ...fault, ...this.places.at(fault.place), ...kept };
  }

  /** For the report. */
  shown(): Pick<ImportReport, 'errors' | 'warnings'> {
    return this.each(({ place, reason }) => ({ ...this.places.at(place), reason }));
  }

  /** For the record of the import: reasons without values of records, which may be personal data, and files without paths. */
  recorded(): Pick<RunResult, 'counts' | 'errors' | 'warnings'> {
    const errorOf = ({ place, reason, withoutValues = reason }: Warning): ImportError => ({
      ...this.places.at(place, nameOfFile),
      reason: storable(cut(withoutValues, MOST_RECORDED)),
    });
    return { counts: this.counts, ...this.each(errorOf) };
  }

  /** Lines that waited for the end of the input were told last. */
  private each(errorOf: (fault: Warning) => ImportError): Pick<ImportReport, 'errors' | 'warnings'> {
    const [errors = [], warnings = []] = [this.errors, this.warnings].map((all) => [...all].sort(byPlace).map(errorOf));
    return { errors, warnings };
  }
}

const byPlace = (one: Warning, other: Warning): number => one.place - other.place;
