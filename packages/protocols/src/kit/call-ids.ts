import type { Conversation, ToolCallPart, ToolResultPart } from '../chat/conversation.ts';

/**
 * The id under which each call and each result of a history goes upstream. Ids that the caller gave go through `fit` (which must be deterministic);
 * calls without one are minted, and results without one take the oldest unanswered call of their name, else the oldest unanswered call.
 */
export function pairCallIds(
  conversation: Conversation,
  options: { fit(id: string): string; mint(): string },
): ReadonlyMap<ToolCallPart | ToolResultPart, string> {
  const ids = new Map<ToolCallPart | ToolResultPart, string>();
  const waiting = new WaitingCalls();
  for (const turn of conversation.turns) {
    for (const part of turn.parts) {
      if (part.type === 'tool-call') {
        const id = part.id === '' ? options.mint() : options.fit(part.id);
        ids.set(part, id);
        waiting.add(id, part.name);
      } else if (part.type === 'tool-result') {
        const id = part.callId === '' ? (waiting.oldest(part.name) ?? options.mint()) : options.fit(part.callId);
        ids.set(part, id);
        waiting.answer(id);
      }
    }
  }
  return ids;
}

/** Unanswered calls, oldest first; answering and finding are constant time on average, since long histories come from callers. */
export class WaitingCalls {
  readonly #all = new Map<string, string>();
  readonly #byName = new Map<string, Set<string>>();

  add(id: string, name: string): void {
    this.#all.set(id, name);
    const named = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, named.add(id));
  }

  /** Whether a call of this name waits. */
  has(name: string | undefined): boolean {
    return name !== undefined && (this.#byName.get(name)?.size ?? 0) > 0;
  }

  oldest(name: string | undefined): string | undefined {
    const named = name === undefined ? undefined : this.#byName.get(name);
    return named?.values().next().value ?? this.#all.keys().next().value;
  }

  answer(id: string): void {
    const name = this.#all.get(id);
    if (name === undefined) return;
    this.#all.delete(id);
    this.#byName.get(name)?.delete(id);
  }
}
