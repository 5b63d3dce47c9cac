/** The kit's list of losses, with the two ways in which this folder adds to it most. */
import { Losses } from '../kit/losses.ts';

export class LossList extends Losses {
  dropped(field: string, detail: string): void {
    this.add(field, 'dropped', detail);
  }

  /** The keys of an object that nothing here reads. A name that does not look like a field is not repeated: it may be content. */
  addUnknown(prefix: string, object: Record<string, unknown>, known: ReadonlySet<string>): void {
    for (const key of Object.keys(object)) {
      if (known.has(key) || object[key] === null) continue;
      const name = /^[a-z][a-z0-9_]{0,40}$/.test(key) ? key : '?';
      this.dropped(prefix === '' ? name : `${prefix}.${name}`, 'has no counterpart in other protocols');
    }
  }
}
