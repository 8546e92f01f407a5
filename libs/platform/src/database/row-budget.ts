/** Bounds the rows of one statement by their bytes. A statement has one of its own for each read. */
export class RowBudget {
  /** Whether rows are missing behind those that were kept. */
  isCut = false;
  private bytes = 0;

  /** `rows`: the most that the statement returns. `mostBytes`: rows are dropped once so many bytes came. */
  constructor(
    readonly rows: number,
    private readonly mostBytes: number,
  ) {}

  /** A read that lost its connection begins again. */
  begin(): void {
    this.bytes = 0;
    this.isCut = false;
  }

  /** Whether to keep a row. The first one is always kept. */
  takes(bytes: number): boolean {
    if (this.bytes >= this.mostBytes) this.isCut = true;
    this.bytes += bytes;
    return !this.isCut;
  }
}
