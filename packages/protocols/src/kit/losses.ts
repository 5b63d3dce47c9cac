import type { Loss } from '@model-gateway/contracts';
import { own } from './read.ts';

/** Enough to explain any request; a hostile one cannot grow the row. */
const max = 64;

/** What is said of a field that nothing reads. */
export const noPlace = 'No other protocol has a place for this field.';

/** A caller's key as a loss may name it. One that does not look like a field is not repeated: it may be content. */
const fieldName = (key: string): string => (/^[a-z][a-z0-9_]{0,40}$/i.test(key) ? key : '(unnamed)');

/** For the event that finishes a reply: nothing at all where nothing was lost. */
export const lostIn = ({ list }: { list: readonly Loss[] }): { lost?: readonly Loss[] } => (list.length === 0 ? {} : { lost: list });

/** Collects declared losses: each field and action once, and at most 64. `detail` is ours and never holds the caller's content. */
export class Losses {
  readonly list: Loss[] = [];
  /** Made on first need: most requests lose nothing. */
  #seen: Set<string> | undefined;

  add(field: string, action: Loss['action'], detail: string): void {
    const key = `${action} ${field}`;
    this.#seen ??= new Set();
    if (this.list.length >= max || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list.push({ field, action, detail });
  }

  dropped(field: string, detail: string): void {
    this.add(field, 'dropped', detail);
  }

  /** Declares the fields of `object` that nothing reads, null and empty lists counting as absent. `known` holds those that are read, as `spell` spells them; `path` is where the object stands. */
  unread(path: string, object: unknown, known: ReadonlySet<string>, spell: (key: string) => string = asItIs): void {
    if (typeof object !== 'object' || object === null) return;
    for (const key of Object.keys(object)) {
      const name = spell(key);
      const value = own(object, key);
      if (known.has(name) || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
      this.dropped(path === '' ? fieldName(name) : `${path}.${fieldName(name)}`, noPlace);
    }
  }
}

const asItIs = (key: string): string => key;
