/** Money for people and machines: decimal strings outside, whole micro-units (millionths of the currency) inside, converted digit by digit. */

const decimals = 6;
const million = 1_000_000;

/** What people write: no sign, no exponent, no blanks, at most six decimals. */
export const moneyPattern = /^(?:0|[1-9]\d*)(?:\.\d{1,6})?$/;

/** Why a text is not an amount; null when it is one. */
export function moneyFault(text: string): string | null {
  if (moneyPattern.test(text)) return null;
  if (text === '') return 'is empty: an amount is a decimal string such as "3.00"';
  if (/\s/.test(text)) return 'has blanks in it';
  if (text.startsWith('-')) return 'must not be negative';
  if (/^\d+\.\d{7,}$/.test(text)) return `has more than ${decimals} decimals`;
  if (/^\+?[\d.]+e[+-]?\d+$/i.test(text)) return 'must not have an exponent: write all digits';
  if (/^\+?(?:inf|infinity|nan)$/i.test(text)) return 'must be a finite amount';
  return 'is not a decimal string such as "3.00": digits, and at most six of them after a point';
}

/** An amount in micro-units, exactly. The text must match `moneyPattern`; one beyond what a number holds exactly is Infinity. */
export function parseMoney(text: string): number {
  const [whole = '0', fraction = ''] = text.split('.');
  const micros = BigInt(whole) * BigInt(million) + BigInt(fraction.padEnd(decimals, '0'));
  return micros > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(micros);
}

/** Micro-units as people read them: as many decimals as it needs, none when it is whole. */
export function printMoney(micros: number): string {
  const digits = BigInt(Math.round(Math.abs(micros)))
    .toString()
    .padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The same where nothing is known. */
export const printMaybeMoney = (micros: number | null): string | null => (micros === null ? null : printMoney(micros));
