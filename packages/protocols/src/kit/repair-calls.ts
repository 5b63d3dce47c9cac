/**
 * Makes a history's calls and results fit together as every vendor demands: all results of a turn stand right after it, each call has an id and one
 * result, and no result stands alone. Agents that were interrupted, and conversations that moved between protocols, send others; each repair is declared.
 */
import type { Loss } from '@model-gateway/contracts';
import type { Conversation, Part, ToolCallPart, ToolResultPart, Turn } from '../chat/conversation.ts';
import { WaitingCalls } from './call-ids.ts';
import { Losses } from './losses.ts';

/** null when nothing needs repair, which one pass tells. */
export function repairCalls(conversation: Conversation): { conversation: Conversation; losses: Loss[] } | null {
  if (isSound(conversation.turns)) return null;
  const losses = new Losses();
  const turns = separateCalls(nameCalls(conversation.turns), losses);
  if (turns !== conversation.turns && isSound(turns)) return { conversation: { ...conversation, turns }, losses: losses.list };
  const repair = new Repair(losses, idsOfResults(turns));
  for (const turn of turns) repair.add(turn);
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
  for (const turn of turns) {
    if (open.size > 0 && (turn.role !== 'user' || !turn.parts.some((part) => part.type === 'tool-result'))) return false;
    for (const part of turn.parts) {
      if (part.type === 'tool-call') {
        if (part.id === '' || turn.role !== 'assistant' || open.has(part.id)) return false;
        open.add(part.id);
      } else if (part.type === 'tool-result' && !open.delete(part.callId)) return false;
    }
    if (turn.role === 'user' && open.size > 0) return false;
  }
  return open.size === 0;
}

/**
 * Calls that wait for their results under one id, as older servers and some gateways make them: the later ones get an id of their own, and the results
 * of that id belong to them in order.
 */
function separateCalls(turns: Turn[], losses: Losses): Turn[] {
  if (!sharesIds(turns)) return turns;
  const taken = new Set<string>();
  for (const { parts } of turns) for (const part of parts) if (part.type === 'tool-call') taken.add(part.id);
  const waiting = new Map<string, { ids: string[]; next: number }>();
  const rename = (part: Part): Part => {
    if (part.type === 'tool-call' && part.id !== '') {
      const queue = waiting.get(part.id);
      if (!queue || queue.next === queue.ids.length) {
        waiting.set(part.id, { ids: [part.id], next: 0 });
        return part;
      }
      losses.add('tool_calls.id', 'renamed', 'Two calls of one turn shared an id: the later one got its own, and the results are theirs in order.');
      let id = '';
      for (let count = queue.ids.length + 1; id === '' || taken.has(id); count++) id = `${part.id}_${count}`;
      taken.add(id);
      queue.ids.push(id);
      return { ...part, id };
    }
    if (part.type !== 'tool-result') return part;
    const queue = waiting.get(part.callId);
    const id = queue?.ids[queue.next];
    if (!queue || id === undefined) return part;
    queue.next++;
    return id === part.callId ? part : { ...part, callId: id };
  };
  return turns.map((turn) => ({ ...turn, parts: turn.parts.map(rename) }));
}

/** Whether a call comes while another of its id still waits. */
function sharesIds(turns: readonly Turn[]): boolean {
  const open = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.type === 'tool-result') open.delete(part.callId);
      else if (part.type === 'tool-call' && part.id !== '') {
        if (open.has(part.id)) return true;
        open.add(part.id);
      }
    }
  }
  return false;
}

const isNameless = (part: Part): boolean => part.type === 'tool-call' && part.id === '';

/** Gives calls without an id one, and their results: the same each time the history is sent, or an upstream's prompt cache would miss. */
function nameCalls(turns: Turn[]): Turn[] {
  if (!turns.some(({ parts }) => parts.some(isNameless))) return turns;
  const naming = new Naming(turns);
  return turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => naming.name(part)) }));
}

class Naming {
  readonly #taken = new Set<string>();
  readonly #answeredById: ReadonlySet<string>;
  readonly #nameless = new WaitingCalls();
  /** Those with an id that no result means by it. */
  readonly #named = new WaitingCalls();
  #count = 0;

  constructor(turns: readonly Turn[]) {
    this.#answeredById = idsOfResults(turns);
    for (const { parts } of turns) for (const part of parts) if (part.type === 'tool-call') this.#taken.add(part.id);
  }

  name(part: Part): Part {
    if (part.type === 'tool-call') return this.#nameCall(part);
    return part.type === 'tool-result' && part.callId === '' ? this.#nameResult(part) : part;
  }

  #nameCall(part: ToolCallPart): ToolCallPart {
    if (part.id !== '') {
      if (!this.#answeredById.has(part.id)) this.#named.add(part.id, part.name);
      return part;
    }
    let id: string;
    do id = `call_n${++this.#count}`;
    while (this.#taken.has(id) || this.#answeredById.has(id));
    this.#nameless.add(id, part.name);
    return { ...part, id };
  }

  /** Some callers name a function otherwise in its result than in its call: the oldest call is meant then, where no call has the result's name. */
  #nameResult(part: ToolResultPart): ToolResultPart {
    const isOfNamed = !this.#nameless.has(part.name) && this.#named.has(part.name);
    const callId = isOfNamed ? undefined : this.#nameless.oldest(part.name);
    if (callId !== undefined) {
      this.#nameless.answer(callId);
      return { ...part, callId };
    }
    const other = this.#named.oldest(part.name);
    if (other !== undefined) this.#named.answer(other);
    return part;
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
    // Parallel calls that the history holds as several turns.
    if (follows && last) this.turns[this.turns.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else {
      this.#close();
      this.turns.push(turn);
    }
    for (const part of turn.parts) {
      if (part.type !== 'tool-call') continue;
      this.#open.set(part.id, part);
      if (!this.#answeredById.has(part.id)) this.#named.add(part.id, part.name);
    }
    this.#gathering = this.#awaits;
  }

  #addOther(turn: Turn): void {
    const others: Part[] = [];
    for (const part of turn.parts) {
      if (part.type === 'tool-result') this.#addResult(part, others);
      else others.push(part);
    }
    if (!this.#gathering) {
      this.turns.push(others.length === turn.parts.length && others.every((part, at) => part === turn.parts[at]) ? turn : { ...turn, parts: others });
      return;
    }
    if (others.length > 0) this.#later.push({ ...turn, parts: others });
    if (!this.#awaits) this.#close();
  }

  /** Callers that write results by hand often leave the id out though the call has one: the oldest call of that name is meant, else the oldest. */
  #addResult(part: ToolResultPart, others: Part[]): void {
    const id = part.callId === '' ? this.#named.oldest(part.name) : part.callId;
    if (id === undefined || !this.#open.delete(id)) {
      for (const orphan of this.#orphan(part)) others.push(orphan);
      return;
    }
    this.#named.answer(id);
    this.#results.push(part.callId === id ? part : { ...part, callId: id });
  }

  /** A result without its call becomes text, so that the model still sees it. */
  #orphan(part: ToolResultPart): Part[] {
    this.#losses.add('tool_result', 'downgraded', 'A result without its call was turned into text.');
    return [{ type: 'text', text: part.name === undefined ? '[tool result]' : `[tool result: ${part.name}]` }, ...part.content];
  }

  /** Ends the history: vendors refuse one that ends in calls, which agents send after they were interrupted. */
  finish(): void {
    this.#close();
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
