/** Names of tools as this wire takes them, `[a-zA-Z0-9_-]` and at most 64 characters, and the way back for the model's calls. */

import type { Losses } from '../kit/losses.ts';
import { shortId } from '../kit/short-id.ts';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;

export class ToolNames {
  readonly #sent = new Map<string, string>();
  readonly #back = new Map<string, string>();
  readonly #losses: Losses;

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  /** The name under which a tool goes: its own where it is accepted, else its readable beginning and a hash, the same every time. */
  send(name: string): string {
    if (accepted.test(name)) return name;
    const known = this.#sent.get(name);
    if (known !== undefined) return known;
    const readable = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 40);
    const sent = `${readable}_${shortId(name.padEnd(65, ' '), '').slice(0, 16)}`;
    this.#sent.set(name, sent);
    this.#back.set(sent, name);
    this.#losses.add('tools.name', 'renamed', 'names take letters, digits, _ and - here, at most 64; the caller still sees its own');
    return sent;
  }

  /** The caller's name by the sent one, where they differ; undefined when none does. */
  get renamed(): ReadonlyMap<string, string> | undefined {
    return this.#back.size === 0 ? undefined : this.#back;
  }
}
