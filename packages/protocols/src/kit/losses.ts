import type { Loss } from '@model-gateway/contracts';

/** Enough to explain any request; a hostile one cannot grow the row. */
const most = 64;

/** Collects declared losses: each field and action once, and at most 64. `detail` is ours and never holds the caller's content. */
export class Losses {
  readonly list: Loss[] = [];
  /** Made on first need: most requests lose nothing. */
  #seen: Set<string> | undefined;

  add(field: string, action: Loss['action'], detail: string): void {
    const key = `${action} ${field}`;
    this.#seen ??= new Set();
    if (this.list.length >= most || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list.push({ field, action, detail });
  }
}
