/** Comma-separated values that a spreadsheet opens as data: text that it would take for a formula is marked as text, and every text is quoted. */

/** What begins a formula in one spreadsheet or another, in its wide form too. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A decimal number is written as its digits are. */
export type Cell = string | number | boolean | { decimal: string } | null;

const cellOf = (cell: Cell): string => {
  if (cell === null) return '';
  if (typeof cell === 'object') return cell.decimal;
  if (typeof cell !== 'string') return String(cell);
  // A single quote in front is shown by no spreadsheet, and keeps the rest from being run.
  return `"${(formula.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;
};

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/** `name` is ours: letters and hyphens. */
export const csvHeaders = (name: string): Record<string, string> => ({
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': `attachment; filename="${name}.csv"`,
});
