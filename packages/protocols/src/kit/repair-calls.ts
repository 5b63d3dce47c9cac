/**
 * Makes a history's calls and results fit together as every vendor demands: all results of a turn stand right after it, each call has one, and no
 * result stands alone. Agents that were interrupted, and conversations that moved between protocols, send others; each repair is declared.
 */
import type { Loss } from '@model-gateway/contracts';
import type { Conversation, Part, ToolCallPart, ToolResultPart, Turn } from '../chat/conversation.ts';
import { WaitingCalls } from './call-ids.ts';
import { Losses } from './losses.ts';

/** null when nothing needs repair, which one pass tells. Calls without ids, and their results, are left to writers, who pair them by order. */
export function repairCalls(conversation: Conversation): { conversation: Conversation; losses: Loss[] } | null {
  if (isSound(conversation.turns)) return null;
  const losses = new Losses();
  const repair = new Repair(losses, idsOfResults(conversation.turns));
  for (const turn of conversation.turns) repair.add(turn);
  repair.finish();
  return { conversation: { ...conversation, turns: repair.turns }, losses: losses.list };
}

function idsOfResults(turns: readonly Turn[]): Set<string> {
  const ids = new Set<string>();
  for (const { parts } of turns) for (const part of parts) if (part.type === 'tool-result') ids.add(part.callId);
  return ids;
}

function isSound(turns: readonly Turn[]): boolean {
  const open = new Set<string>();
  const nameless = new NamelessCalls();
  for (const turn of turns) {
    if (open.size > 0 && (turn.role !== 'user' || !turn.parts.some((part) => part.type === 'tool-result'))) return false;
    for (const part of turn.parts) {
      if (part.type === 'tool-call') {
        if (part.id === '') nameless.add(part.name);
        else if (turn.role !== 'assistant' || open.has(part.id)) return false;
        else open.add(part.id);
      } else if (part.type === 'tool-result' && !(part.callId === '' ? nameless.answer(part.name) || nameless.answer(undefined) : open.delete(part.callId)))
        return false;
    }
    if (turn.role === 'user' && open.size > 0) return false;
  }
  return true;
}

/** Calls without an id that nothing has answered yet, by the name of their function. */
class NamelessCalls {
  readonly #names = new Map<string, number>();

  add(name: string): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
  }

  /** Whether there was one for a result without an id: of its name where it says one, else any. */
  answer(name: string | undefined): boolean {
    const found = name ?? this.#names.keys().next().value;
    const count = found === undefined ? undefined : this.#names.get(found);
    if (found === undefined || count === undefined) return false;
    if (count > 1) this.#names.set(found, count - 1);
    else this.#names.delete(found);
    return true;
  }
}

class Repair {
  readonly turns: Turn[] = [];
  readonly #losses: Losses;
  readonly #answeredById: ReadonlySet<string>;
  /** Calls of the last assistant turn that nothing has answered yet, by id. */
  readonly #open = new Map<string, ToolCallPart>();
  /** Those that no result means by its id, by name. */
  #named = new WaitingCalls();
  readonly #nameless = new NamelessCalls();
  /** Where their results are gathered: the user turn right after them. */
  #results: ToolResultPart[] = [];
  /** What came between the calls and their results. */
  #later: Turn[] = [];
  /** Whether an assistant turn's answers are still being gathered. */
  #gathering = false;

  constructor(losses: Losses, answeredById: ReadonlySet<string>) {
    this.#losses = losses;
    this.#answeredById = answeredById;
  }

  get #awaits(): boolean {
    return this.#open.size > 0;
  }

  add(turn: Turn): void {
    if (turn.role === 'assistant') this.#addAssistant(turn);
    else this.#addOther(turn);
  }

  #addAssistant(turn: Turn): void {
    const last = this.turns.at(-1);
    const follows = this.#awaits && this.#results.length === 0 && this.#later.length === 0 && last?.role === 'assistant';
    // Calls made at once, told as several turns.
    if (follows && last) this.turns[this.turns.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else {
      this.#close();
      this.turns.push(turn);
    }
    for (const part of turn.parts) {
      if (part.type !== 'tool-call') continue;
      if (part.id === '') this.#nameless.add(part.name);
      else {
        this.#open.set(part.id, part);
        if (!this.#answeredById.has(part.id)) this.#named.add(part.id, part.name);
      }
    }
    this.#gathering = this.#awaits;
  }

  #addOther(turn: Turn): void {
    const others: Part[] = [];
    for (const part of turn.parts) {
      if (part.type !== 'tool-result') others.push(part);
      else if (part.callId === '' && this.#isOfNameless(part.name)) others.push(part);
      else this.#addResult(part, others);
    }
    if (!this.#gathering) {
      this.turns.push(others.length === turn.parts.length && others.every((part, at) => part === turn.parts[at]) ? turn : { ...turn, parts: others });
      return;
    }
    if (others.length > 0) this.#later.push({ ...turn, parts: others });
    if (!this.#awaits) this.#close();
  }

  /** Some callers name a function otherwise in its result than in its call: the oldest call is meant then, where no call has the result's name. */
  #isOfNameless(name: string | undefined): boolean {
    return this.#nameless.answer(name) || (!this.#named.has(name) && this.#nameless.answer(undefined));
  }

  /** Callers that write results by hand often leave the id out though the call has one: the oldest call of that name is meant, else the oldest. */
  #addResult(part: ToolResultPart, others: Part[]): void {
    const id = part.callId === '' ? this.#named.oldest(part.name) : part.callId;
    if (id === undefined || !this.#open.delete(id)) {
      for (const told of this.#orphan(part)) others.push(told);
      return;
    }
    this.#named.answer(id);
    this.#results.push(part.callId === id ? part : { ...part, callId: id });
  }

  /** What a result without its call says is still worth telling. */
  #orphan(part: ToolResultPart): Part[] {
    this.#losses.add('tool_result', 'downgraded', 'A result without its call was turned into text.');
    return [{ type: 'text', text: part.name === undefined ? '[tool result]' : `[tool result: ${part.name}]` }, ...part.content];
  }

  /** A history that ends in calls is the caller's own affair. */
  finish(): void {
    if (this.#results.length > 0 || this.#later.length > 0) this.#close();
  }

  /** Ends the gathering: unanswered calls are answered for the caller, results first, then what came between. */
  #close(): void {
    if (!this.#gathering) return;
    for (const [id, call] of this.#open) {
      this.#losses.add('tool_result', 'emulated', 'A call without a result was answered with an error.');
      this.#results.push({ type: 'tool-result', callId: id, name: call.name, content: [{ type: 'text', text: 'No result was recorded.' }], isError: true });
    }
    this.#open.clear();
    this.#named = new WaitingCalls();
    this.#gathering = false;
    const [next, ...rest] = this.#later;
    const results: Turn[] = this.#results.length === 0 ? [] : [{ role: 'user', parts: this.#results }];
    // Text of the very same turn stays with the results.
    if (next?.role === 'user' && results[0]) for (const turn of [{ ...next, parts: [...results[0].parts, ...next.parts] }, ...rest]) this.turns.push(turn);
    else for (const turn of [...results, ...this.#later]) this.turns.push(turn);
    this.#results = [];
    this.#later = [];
  }
}
