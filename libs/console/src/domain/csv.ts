/** A spreadsheet takes it for a formula where a cell begins, or where it splits one by semicolons, tabs or lines. */
const FORMULA = /^[\t\r\n]|[=+\-@＝＋－＠](?<=(?:^|[;\t\r\n])"*.)/g;

type Cell = string | number | boolean | Date | null | undefined;

/** A line of a CSV file. Every cell is quoted, and none is a formula. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(value: Cell): string {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '');
  return `"${text.replace(FORMULA, "'$&").replaceAll('"', '""')}"`;
}
