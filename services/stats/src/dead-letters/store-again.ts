/** Stores messages that were set aside because the version before could not read them: each start looks through what is kept of them. */
import type { EventItem } from '@model-gateway/bus';
import type { DurableSubject } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { commitAll } from './commit-all.ts';
import { readItems, type Schema } from './read-item.ts';

/** How messages of a subject are judged and stored. */
export interface Keeper<T> {
  schema: Schema<T>;
  /** What else speaks against a value; null: nothing. */
  faultOf(value: T): string | null;
  insert(values: readonly T[]): Promise<unknown>;
}

const pageSize = 200;

/**
 * Those that this version reads are stored, and are dead letters no more. A message that was cut, or had a credential masked, stays where it is: it is not
 * what was sent. Never rejects: what could not be stored is looked at again at the next start.
 */
export async function storeAgain<T>(
  subject: DurableSubject,
  { schema, faultOf, insert }: Keeper<T>,
  { storage: { deadLetters }, logger }: { storage: Pick<Storage, 'deadLetters'>; logger: Logger },
): Promise<void> {
  let stored = 0;
  try {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await deadLetters.list({ subject, limit: pageSize, ...(cursor !== undefined && { cursor }) });
      cursor = page.nextCursor;
      const whole = page.items.filter(({ excerpt, bytes }) => Buffer.byteLength(excerpt) === bytes);
      const items = whole.map(({ id, excerpt }) => ({ id, event: parse(excerpt), deliveries: 1 }) as EventItem<DurableSubject>);
      const { good } = readItems(items, schema, faultOf);
      const refused = new Set((await commitAll(good, async (some) => void (await insert(some.map(({ value }) => value))))).map(({ item }) => item));
      for (const one of good) {
        if (refused.has(one)) continue;
        await deadLetters.remove(one.item.id);
        stored++;
      }
    }
  } catch (error) {
    logger.warn({ error, subject }, 'messages that were set aside cannot be stored yet');
  }
  if (stored > 0) logger.info({ subject, items: stored }, 'messages that an earlier version set aside are stored');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
