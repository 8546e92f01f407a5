/** A spreadsheet would take a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

type Cell = string | number | boolean | Date | null | undefined;

/** A line of a CSV file. Every cell is quoted, and none is a formula. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(value: Cell): string {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '');
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
