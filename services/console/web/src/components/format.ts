/** Numbers, money, sizes and times in the reader's language. */
import i18next from 'i18next';

const memo = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();
const numberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const id = `${i18next.language} ${JSON.stringify(options)}`;
  const found = memo.get(id) ?? new Intl.NumberFormat(i18next.language, options);
  memo.set(id, found);
  return found as Intl.NumberFormat;
};

export const formatNumber = (value: number): string => numberFormat({ maximumFractionDigits: 2 }).format(value);
/** 12.3K, 4.5M. */
export const formatCompact = (value: number): string => numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(value);
export const formatPercent = (share: number): string => numberFormat({ style: 'percent', maximumFractionDigits: 1 }).format(share);

/** An amount that is a decimal string of its currency. */
export const formatAmount = (amount: string | null, currency: string): string =>
  formatMoney(amount === null ? null : Math.round(Number(amount) * 1_000_000), currency);

/** Money from integer micro-units; small sums keep their digits. */
export function formatMoney(micros: number | null, currency: string | null): string {
  if (micros === null) return '–';
  const amount = micros / 1_000_000;
  return numberFormat({ style: 'currency', currency: currency ?? 'USD', maximumFractionDigits: Math.abs(amount) < 1 ? 6 : 2 }).format(amount);
}

/** For headlines: cents where they count, and more digits where there is less than a cent. */
export function formatMoneyShort(micros: number, currency: string): string {
  const amount = micros / 1_000_000;
  return numberFormat({ style: 'currency', currency, ...shortOptions(amount) }).format(amount);
}

function shortOptions(amount: number): Intl.NumberFormatOptions {
  if (amount >= 10_000) return { notation: 'compact', maximumSignificantDigits: 3 };
  if (amount >= 1_000) return { maximumFractionDigits: 0 };
  return amount >= 0.1 || amount === 0 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 6 };
}

export function formatDuration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${formatNumber(ms / 1000)} s`;
  return ms < 7_200_000 ? `${formatNumber(ms / 60_000)} min` : `${formatNumber(ms / 3_600_000)} h`;
}

export const formatBytes = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : bytes < 1024 ** 2 ? `${formatNumber(bytes / 1024)} KiB` : `${formatNumber(bytes / 1024 ** 2)} MiB`;

const dateFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const id = `date ${i18next.language} ${JSON.stringify(options)}`;
  const found = memo.get(id) ?? new Intl.DateTimeFormat(i18next.language, options);
  memo.set(id, found);
  return found as Intl.DateTimeFormat;
};

/** Milliseconds since the epoch or ISO 8601, in the reader's time zone. */
export const formatTime = (value: number | string): string => dateFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(value));
/** The time of today, or the day as well, and the year where it is another. */
export function formatRecent(value: number, now: number = Date.now()): string {
  const [date, today] = [new Date(value), new Date(now)];
  if (date.toDateString() === today.toDateString()) return formatClock(value);
  const year = date.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' as const };
  return dateFormat({ ...year, month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }).format(date);
}

/** For narrow columns: the time of today, or the day alone, and the year where it is another. */
export function formatNear(value: number | string, now: number = Date.now()): string {
  const [date, today] = [new Date(value), new Date(now)];
  if (date.toDateString() === today.toDateString()) return dateFormat({ timeStyle: 'short' }).format(date);
  const year = date.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' as const };
  return dateFormat({ ...year, month: 'short', day: 'numeric' }).format(date);
}

/** Of an axis whose marks are `stepSeconds` apart: times of a day, and the day where one begins. */
export function formatAxisTime(value: number, stepSeconds: number): string {
  const date = new Date(value);
  if (stepSeconds < 86_400 && (date.getHours() !== 0 || date.getMinutes() !== 0)) return dateFormat({ hour: '2-digit', minute: '2-digit' }).format(date);
  return dateFormat({ month: 'short', day: 'numeric' }).format(date);
}
/** The day that begins then in UTC, whatever the reader's time zone. */
export const formatDayUtc = (value: number): string => dateFormat({ month: 'short', day: 'numeric', timeZone: 'UTC' }).format(new Date(value));
export const formatClock = (value: number | string): string => dateFormat({ timeStyle: 'medium' }).format(new Date(value));
