/**
 * Keeps calls and results of a history paired under ids that this wire accepts: `[a-zA-Z0-9_-]`, at most 64 characters, each only once. The ids
 * come out the same each time the same history is sent, or the upstream's prompt cache would miss.
 */
import { shortId } from '../../kit/short-id.ts';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;

interface OpenCall {
  name: string;
  id: string;
}

/** Calls in order, taken from the front; `next` moves instead of the list, so that taking is cheap however long it is. */
interface Queue {
  calls: OpenCall[];
  next: number;
}

export class ToolIds {
  readonly #used = new Set<string>();
  readonly #repeats = new Map<string, number>();
  /** Calls without a result so far, by the id they are sent under. */
  readonly #open = new Map<string, OpenCall>();
  readonly #bySource = new Map<string, Queue>();
  readonly #byName = new Map<string, Queue>();

  /** The id under which a call is sent. `sourceId` may be '', malformed, too long, or one that an earlier turn already used. */
  nameCall(sourceId: string, name: string): string {
    const id = this.#free(accepted.test(sourceId) ? sourceId : hashed(sourceId === '' ? `nameless ${name}` : sourceId));
    const call = { name, id };
    this.#used.add(id);
    this.#open.set(id, call);
    append(this.#bySource, sourceId, call);
    append(this.#byName, name, call);
    return id;
  }

  /** The id of the call that a result answers, or null when no open call fits. Without an id: the first open call of that name, else the first. */
  nameResult(sourceId: string, name: string | undefined): string | null {
    const call = sourceId !== '' ? this.#take(this.#bySource.get(sourceId)) : (this.#take(this.#byName.get(name ?? '')) ?? this.#first());
    if (!call) return null;
    this.#open.delete(call.id);
    return call.id;
  }

  /** Calls that nothing answered, which are then forgotten. */
  takeUnanswered(): string[] {
    const ids = [...this.#open.keys()];
    this.#open.clear();
    return ids;
  }

  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  #first(): OpenCall | undefined {
    return this.#open.values().next().value;
  }

  #take(queue: Queue | undefined): OpenCall | undefined {
    while (queue && queue.next < queue.calls.length) {
      const call = queue.calls[queue.next++];
      if (call && this.#open.has(call.id)) return call;
    }
    return undefined;
  }

  #free(id: string): string {
    let candidate = id;
    while (this.#used.has(candidate)) {
      const repeat = (this.#repeats.get(id) ?? 1) + 1;
      this.#repeats.set(id, repeat);
      candidate = accepted.test(`${id}_${repeat}`) ? `${id}_${repeat}` : hashed(`${id}_${repeat}`);
    }
    return candidate;
  }
}

/** `shortId` leaves short ids alone; here a short one may be malformed, so it is made long first. */
const hashed = (id: string): string => shortId(id.padEnd(65, ' '), 'toolu_');

function append(queues: Map<string, Queue>, key: string, call: OpenCall): void {
  const queue = queues.get(key);
  if (queue) queue.calls.push(call);
  else queues.set(key, { calls: [call], next: 0 });
}
