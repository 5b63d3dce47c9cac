/** Finds recorded replies where they lie; they are read in place and never copied into the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const fixturesDirectory = (): string => process.env['FIXTURES_DIR'] ?? join(import.meta.dirname, '../../../shared/fixtures');
export const haveFixtures = (): boolean => existsSync(join(fixturesDirectory(), 'INDEX.md'));

export interface RecordedExchange {
  n: number;
  method: string;
  path: string;
  query: string;
  status: number;
  request: { headers: Record<string, string>; file: string };
  response: { headers: Record<string, string>; file: string };
}

/** Headers that belong to the recorded connection, not to the reply. */
const notReplayed = new Set(['content-length', 'transfer-encoding', 'content-encoding', 'connection', 'keep-alive', 'date']);

/** The exchanges of one case, in order. Throws when the case does not exist. */
export function readCase(protocol: string, name: string): RecordedExchange[] {
  return (JSON.parse(readFileSync(join(fixturesDirectory(), protocol, name, 'meta.json'), 'utf8')) as { exchanges: RecordedExchange[] }).exchanges;
}

/** A recorded reply, or null when there is none of that number. */
export function readReply(protocol: string, name: string, n: number): { status: number; headers: Record<string, string>; body: Buffer } | null {
  const exchange = existsSync(join(fixturesDirectory(), protocol, name, 'meta.json')) ? readCase(protocol, name).find((one) => one.n === n) : undefined;
  if (exchange === undefined) return null;
  const headers = Object.fromEntries(Object.entries(exchange.response.headers).filter(([header]) => !notReplayed.has(header.toLowerCase())));
  return { status: exchange.status, headers, body: readFileSync(join(fixturesDirectory(), protocol, name, exchange.response.file)) };
}
