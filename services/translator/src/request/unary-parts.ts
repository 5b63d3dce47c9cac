/** One question in as many calls as its upstream needs for it, asked one after the other, and their answers as one. */
import { noUsage, type TokenUsage, type Usage } from '@model-gateway/contracts';
import type { UnaryUpstreamCodec } from '@model-gateway/protocols';

export class UnaryParts {
  readonly #requests: readonly unknown[];
  readonly #replies: unknown[] = [];
  #usage: Usage | null = null;

  /** `requests`: what each call asks; at least one. */
  constructor(requests: readonly unknown[]) {
    this.#requests = requests;
  }

  /** What the present call asks. */
  get current(): unknown {
    return this.#requests[Math.min(this.#replies.length, this.#requests.length - 1)];
  }

  /** How many calls have their answer. */
  get answered(): number {
    return this.#replies.length;
  }

  get isDone(): boolean {
    return this.answered >= this.#requests.length;
  }

  /** Of all calls so far; null: none of them said. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** The present call was answered. */
  add(reply: unknown, usage: Usage | null): void {
    this.#replies.push(reply);
    if (usage) this.#usage = this.#usage ? sum(this.#usage, usage) : usage;
  }

  /** The answer to all of them. */
  joined({ join }: Pick<UnaryUpstreamCodec<unknown, unknown>, 'join'>): unknown {
    return this.#replies.length === 1 || !join ? this.#replies[0] : join(this.#replies);
  }
}

const buckets = Object.keys(noUsage) as (keyof TokenUsage)[];
const extras = ['audioInput', 'audioOutput', 'imageInput', 'imageOutput', 'images', 'seconds', 'characters'] as const;

function sum(one: Usage, other: Usage): Usage {
  const made: Usage = { ...one };
  for (const bucket of buckets) made[bucket] = one[bucket] + other[bucket];
  for (const name of extras) {
    const value = (one[name] ?? 0) + (other[name] ?? 0);
    if (one[name] !== undefined || other[name] !== undefined) made[name] = value;
  }
  return made;
}
