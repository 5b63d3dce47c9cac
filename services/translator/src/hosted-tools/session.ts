/**
 * The hosted tools of one request, run by the gateway: the model calls them as functions, the gateway answers and asks the upstream again, and the caller
 * is shown one reply with its own vendor's blocks in it.
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import {
  type ChatEvent,
  type Conversation,
  foldEvents,
  type HostedOutcome,
  type HostedPage,
  type HostedToolsCodec,
  type HostedUse,
  type OfferedTools,
  type Part,
  type ToolCallPart,
  type Turn,
} from '@model-gateway/protocols';
import { addUsage } from '../meter.ts';
import { citationsIn } from './citations.ts';
import type { SearchPrice } from './hosted-reply.ts';
import { runUse, type UseContext, wordsFor } from './run-use.ts';

/** A call of a hosted tool while it streams, and then while it waits for its result. */
interface HostedCall {
  id: string;
  name: string;
  arguments: string;
}
interface WaitingUse {
  call: HostedCall;
  use: HostedUse;
}

type BlockEvent = Extract<ChatEvent, { index: number }>;

const maxArguments = 64 * 1024;
const maxText = 1024 * 1024;

/** What one call of the upstream said. */
class Round {
  readonly events: ChatEvent[] = [];
  /** The caller's number of each block, by the upstream's. */
  readonly places = new Map<number, number>();
  readonly calls = new Map<number, HostedCall>();
  readonly texts = new Map<number, string>();
  readonly waiting: WaitingUse[] = [];
  /** What ends the reply, where uses are waiting. */
  readonly held: ChatEvent[] = [];
  /** The model called tools that the caller runs. */
  callsOthers = false;
}

export class HostedSession {
  readonly #codec: HostedToolsCodec;
  readonly #offered: OfferedTools;
  readonly #context: Omit<UseContext, 'signal'>;
  readonly #turns: Turn[] = [];
  readonly #pages = new Map<string, HostedPage>();
  readonly #used = new Map<string, number>();
  #round = new Round();
  #rounds = 0;
  #next = 0;
  #started = false;
  #over = false;
  #before: Usage = { ...noUsage };
  #searches = 0;
  #seal: (signature: string) => string = (signature) => signature;

  constructor(codec: HostedToolsCodec, offered: OfferedTools, context: Omit<UseContext, 'signal'>) {
    this.#codec = codec;
    this.#offered = offered;
    this.#context = context;
  }

  /** Uses wait for their results: the reply that was read is not the last. */
  get waits(): boolean {
    return this.#round.waiting.length > 0;
  }

  /** Nothing more is asked of the upstream. */
  get isOver(): boolean {
    return this.#over;
  }

  get isFirst(): boolean {
    return this.#rounds === 0;
  }

  get losses(): OfferedTools['losses'] {
    return this.#offered.losses;
  }

  /** What the upstream is asked in this round. */
  get conversation(): Conversation {
    const { conversation } = this.#offered;
    if (this.isFirst) return conversation;
    const { toolChoice, turns } = conversation;
    const isForced = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
    const allowed = toolChoice?.type === 'any' && toolChoice.allowed ? { allowed: toolChoice.allowed } : {};
    return {
      ...conversation,
      turns: [...turns, ...this.#turns],
      ...(isForced && { toolChoice: { type: 'auto', ...allowed } }),
      ...(this.#rounds + 1 >= this.#context.config.max_rounds && { toolChoice: { type: 'none' } }),
    };
  }

  /** The upstream is about to be asked. `seal`: its signatures, as the conversation holds them. */
  begin(seal: (signature: string) => string): void {
    this.#seal = seal;
    this.#round = new Round();
    if (!this.isFirst) return;
    this.#next = 0;
    this.#started = false;
  }

  /** What the caller is shown of these events. */
  read(events: readonly ChatEvent[]): ChatEvent[] {
    return events.flatMap((event) => {
      this.#round.events.push(event);
      return this.#show(event);
    });
  }

  #show(event: ChatEvent): ChatEvent[] {
    switch (event.type) {
      case 'start': {
        const isFirst = !this.#started;
        this.#started = true;
        return isFirst ? [event] : [];
      }
      case 'error':
        return [event];
      case 'usage':
        return this.#hold({ ...event, usage: addUsage(this.#before, event.usage) });
      case 'finish':
      case 'end':
        return this.#hold(event);
      default:
        return this.#showBlock(event);
    }
  }

  #hold(event: ChatEvent): ChatEvent[] {
    if (!this.waits) return [event];
    this.#round.held.push(event);
    return [];
  }

  #showBlock(event: BlockEvent): ChatEvent[] {
    const { places, calls, texts } = this.#round;
    if (event.type === 'block-start') return this.#open(event);
    const call = calls.get(event.index);
    if (call) return this.#readCall(event, call);
    const index = places.get(event.index);
    if (index === undefined) return [];
    const text = texts.get(event.index);
    if (event.type === 'text-delta' && text !== undefined && text.length < maxText) texts.set(event.index, text + event.text);
    const cited = event.type === 'block-end' && text !== undefined ? citationsIn(text, this.#pages.values()) : [];
    return [
      ...cited.map(({ page, range }): ChatEvent => ({ type: 'raw-delta', index, value: this.#codec.cite(page, range, this.#context.deps.sealPage) })),
      { ...event, index } as ChatEvent,
    ];
  }

  #open(event: Extract<ChatEvent, { type: 'block-start' }>): ChatEvent[] {
    const { places, calls, texts } = this.#round;
    const { block } = event;
    if (block.type === 'tool-call' && this.#offered.tools.has(block.name)) {
      calls.set(event.index, { id: block.id, name: block.name, arguments: '' });
      return [];
    }
    if (block.type === 'tool-call') this.#round.callsOthers = true;
    if (block.type === 'text') texts.set(event.index, '');
    const index = this.#next++;
    places.set(event.index, index);
    return [{ ...event, index }];
  }

  #readCall(event: BlockEvent, call: HostedCall): ChatEvent[] {
    if (event.type === 'arguments-delta' && call.arguments.length < maxArguments) call.arguments += event.text;
    if (event.type !== 'block-end') return [];
    const { kind } = this.#offered.tools.get(call.name)!;
    const use = { id: this.#context.deps.mintId(this.#codec.idPrefix), kind, input: inputOf(call.arguments, kind), index: this.#next };
    this.#next += 2;
    this.#round.waiting.push({ call, use });
    return this.#codec.begin(use);
  }

  /** Runs what waits, and gives what the caller is shown of it; after the last round also what ends the reply. */
  async answer(signal: AbortSignal): Promise<ChatEvent[]> {
    const round = this.#round;
    const answers = await Promise.all(round.waiting.map(async ({ use, call }) => ({ use, call, outcome: await this.#run(use, call.name, signal) })));
    for (const { outcome } of answers) if (outcome.ok) for (const page of outcome.pages) this.#pages.set(page.url, page);
    const shown = answers.flatMap(({ use, outcome }) => this.#codec.end(use, outcome, this.#context.deps.sealPage));
    this.#over = round.callsOthers || this.#rounds + 1 >= this.#context.config.max_rounds;
    if (this.#over) return [...shown, ...round.held.map((event) => this.#asEnding(event, round))];
    this.#turns.push(...this.#turnsOf(round, answers));
    const usage = round.events.findLast((event) => event.type === 'usage')?.usage;
    if (usage) this.#before = addUsage(this.#before, usage);
    this.#rounds++;
    round.waiting.length = 0;
    return shown;
  }

  /** How many searches a provider has answered since this was last asked. */
  takeSearches(): number {
    const count = this.#searches;
    this.#searches = 0;
    return count;
  }

  /** What one search costs. null: nobody is asked. */
  get searchPrice(): SearchPrice | null {
    const { provider } = this.#context;
    return provider && { micros: provider.price_per_search, currency: provider.currency };
  }

  #asEnding(event: ChatEvent, { callsOthers }: Round): ChatEvent {
    return event.type === 'finish' && !callsOthers && event.reason === 'tool-calls' ? { ...event, reason: 'pause' } : event;
  }

  async #run(use: HostedUse, name: string, signal: AbortSignal): Promise<HostedOutcome> {
    const tool = this.#offered.tools.get(name)!;
    const used = (this.#used.get(name) ?? 0) + 1;
    const all = [...this.#used.values()].reduce((sum, count) => sum + count, 1);
    if (all > this.#context.config.max_uses || used > (tool.maxUses ?? Number.POSITIVE_INFINITY)) return { ok: false, code: 'max-uses' };
    this.#used.set(name, used);
    if (use.kind === 'web_fetch' && !this.#knows(use.input)) return { ok: false, code: 'not-allowed' };
    const outcome = await runUse(use, tool, { ...this.#context, signal });
    if (outcome.ok && use.kind === 'web_search') this.#searches++;
    return outcome;
  }

  /**
   * A model that a page has talked into it could carry the conversation out in an address of its own making: what it said itself, now or in an earlier
   * turn, does not count.
   */
  #knows(url: string): boolean {
    if (this.#pages.has(url)) return true;
    const says = (part: Part): boolean => (part.type === 'text' ? part.text.includes(url) : part.type === 'tool-result' && part.content.some(says));
    const isOthers = (role: Turn['role'], part: Part): boolean => role !== 'assistant' || (part.type === 'text' && part.found === true);
    return this.#offered.conversation.turns.some(({ role, parts }) => parts.some((part) => isOthers(role, part) && says(part)));
  }

  /** The model's turn as it said it, and the results: what the next round goes on from. */
  #turnsOf({ events }: Round, answers: readonly { call: HostedCall; use: HostedUse; outcome: HostedOutcome }[]): Turn[] {
    const ids = new Map(answers.map(({ call }) => [call, call.id === '' ? this.#context.deps.mintId('call_') : call.id]));
    const waiting = answers.map(({ call }) => call);
    const parts = foldEvents(events).blocks.flatMap((block): Part[] => {
      const { start, text } = block;
      const signature = block.signature === undefined ? {} : { signature: this.#seal(block.signature) };
      if (start.type === 'text') return text === '' ? [] : [{ type: 'text', text, ...signature }];
      if (start.type === 'thinking') return [{ type: 'thinking', text, ...signature }];
      if (start.type === 'redacted-thinking') return [{ type: 'thinking', text: '', redacted: true, signature: this.#seal(start.data) }];
      if (start.type !== 'tool-call') return [];
      const call = waiting.shift();
      const part: ToolCallPart = { type: 'tool-call', id: (call && ids.get(call)) ?? start.id, name: start.name, arguments: text, ...signature };
      return [part];
    });
    const results = answers.map(
      ({ call, use, outcome }): Part => ({
        type: 'tool-result',
        callId: ids.get(call)!,
        name: call.name,
        content: [{ type: 'text', text: wordsFor(use, outcome) }],
        ...(!outcome.ok && { isError: true }),
      }),
    );
    return [
      { role: 'assistant', parts },
      { role: 'user', parts: results },
    ];
  }
}

/** '' for arguments that do not hold it. */
function inputOf(text: string, kind: HostedUse['kind']): string {
  try {
    const value = (JSON.parse(text) as Record<string, unknown> | null)?.[kind === 'web_search' ? 'query' : 'url'];
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
