/** Comma-separated values that a spreadsheet opens as data: text that it would take for a formula is marked as text, and every text is quoted. */

/** What begins a formula in one spreadsheet or another, in its wide form too. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

export type Cell = string | number | boolean | null;

const cellOf = (cell: Cell): string => {
  if (cell === null) return '';
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

/** Millionths as a decimal number without rounding. */
export function decimalOf(micros: number): string {
  const sign = micros < 0 ? '-' : '';
  const digits = String(Math.abs(micros)).padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
