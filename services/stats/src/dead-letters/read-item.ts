/** Reads what the bus delivers as what it claims to be. */
import type { EventItem } from '@model-gateway/bus';
import type { DurableSubject } from '@model-gateway/contracts';
import type { BadItem } from './set-aside.ts';

/** The part of a zod schema that is used. */
export interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/** A message that passed its schema. */
export interface ReadItem<T> {
  value: T;
  deliveries: number;
  /** As it came. */
  item: EventItem<DurableSubject>;
}

/** `faultOf`: what else speaks against a value; null: nothing. */
export function readItems<T>(
  batch: readonly EventItem<DurableSubject>[],
  schema: Schema<T>,
  faultOf: (value: T) => string | null,
): { good: ReadItem<T>[]; bad: BadItem[] } {
  const good: ReadItem<T>[] = [];
  const bad: BadItem[] = [];
  for (const item of batch) {
    const read = schema.safeParse(item.event);
    const fault = read.success ? faultOf(read.data) : describe(read.error.issues);
    if (read.success && fault === null) good.push({ value: read.data, deliveries: item.deliveries, item });
    else bad.push({ id: item.id, event: item.event, reason: fault ?? 'cannot be read' });
  }
  return { good, bad };
}

/** Names of fields are ours: they come from the schema. */
function describe(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const [first] = issues;
  if (!first) return 'cannot be read';
  return first.path.length === 0 ? 'is not an object' : `${first.path.map(String).join('.')}: ${first.message}`;
}

const dayMs = 86_400_000;
/** Clocks may be wrong, but not by more: a row dated further ahead would be the newest of the log for that long. */
const maxAheadDays = 31;

/** null: the moment may be stored. */
export const momentFault = (field: string, moment: number, now: number): string | null =>
  moment > now + maxAheadDays * dayMs ? `${field}: lies more than ${maxAheadDays} days ahead` : null;
