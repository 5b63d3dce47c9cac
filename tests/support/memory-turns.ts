/** A store of turns without a database: answers `turns.write` and `turns.read` as the stats service does, for tests of who asks it. */
import type { Bus, Disposable, ServerStream } from '@model-gateway/bus';
import type { TurnFacts, TurnsFound, TurnsRead, TurnsWrite, TurnsWritten } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';

// biome-ignore lint/suspicious/noExplicitAny: JSON that tests look into freely.
type Json = any;

interface Turn {
  facts: TurnFacts;
  input: Json[];
  response: Json;
  deleted: boolean;
  authority: number;
}
interface Conversation {
  owner: string;
  createdAt: number;
  metadata: Json;
  items: Json[];
}
type Found = { found: TurnsFound; content?: Json };

const isOpen = ({ facts: { status } }: Turn): boolean => status === 'queued' || status === 'in_progress';

export class MemoryTurns {
  readonly turns = new Map<string, Turn>();
  readonly conversations = new Map<string, Conversation>();
  readonly writes: TurnsWrite[] = [];
  readonly reads: TurnsRead[] = [];
  /** What happens instead of an answer. */
  mode: 'answers' | 'refuses' | 'is-silent' | 'is-full' = 'answers';
  #serving: Disposable | undefined;
  #bus: Bus | undefined;

  serve(bus: Bus): void {
    this.#bus = bus;
    this.#serving = bus.serve({
      open: {
        'turns.write': (request, body, stream) => this.#answer(stream, () => ({ head: this.#write(request, body) })),
        'turns.read': (request, _body, stream) =>
          this.#answer(stream, () => {
            this.reads.push(request);
            const { found, content } = this.#read(request);
            return { head: found, content };
          }),
      },
    });
  }

  async stop(): Promise<void> {
    await this.#serving?.dispose();
  }

  #answer(stream: ServerStream<'turns.write' | 'turns.read'>, make: () => { head: TurnsWritten | TurnsFound; content?: Json }): void {
    if (this.mode === 'is-silent') return;
    if (this.mode === 'refuses') return stream.fail(new GatewayError('storage_unavailable'));
    try {
      const { head, content } = make();
      stream.whole(head as never, content === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(content)), {});
    } catch (error) {
      stream.fail(error instanceof GatewayError ? error : new GatewayError('internal', { cause: error }));
    }
  }

  #of(owner: string, id: string): Turn | undefined {
    const turn = this.turns.get(id);
    return turn?.facts.owner === owner && !turn.deleted ? turn : undefined;
  }

  #write(request: TurnsWrite, body: Uint8Array): TurnsWritten {
    this.writes.push(request);
    const content = (): Json => (body.length === 0 ? {} : JSON.parse(Buffer.from(body).toString()));
    const missing: TurnsWritten = { stored: false, reason: 'missing' };
    if (this.mode === 'is-full' && ['begin', 'put', 'create-conversation'].includes(request.kind)) return { stored: false, reason: 'full' };
    switch (request.kind) {
      case 'begin':
      case 'put': {
        const { turn } = request;
        const { input = [], response = null } = content();
        const conversation = turn.conversation === null ? undefined : this.conversations.get(turn.conversation);
        if (turn.conversation !== null && conversation?.owner !== turn.owner) return missing;
        if ([...this.turns.values()].some((one) => conversation && isOpen(one) && one.facts.conversation === turn.conversation))
          return { stored: false, reason: 'locked' };
        this.turns.set(turn.id, { facts: { ...turn }, input, response, deleted: false, authority: -1 });
        return { stored: true, status: turn.status };
      }
      case 'finish': {
        const turn = this.#of(request.owner, request.id);
        if (!turn) return missing;
        if (!isOpen(turn) && (turn.facts.status === 'cancelled' || turn.authority >= request.authority))
          return { stored: false, reason: 'ended', status: turn.facts.status };
        turn.facts = { ...turn.facts, status: request.status };
        turn.authority = request.authority;
        turn.response = content();
        if (request.conversation !== null && turn.facts.conversation !== null)
          this.conversations.get(turn.facts.conversation)?.items.push(...turn.input, ...(turn.response.output ?? []));
        return { stored: true, status: request.status };
      }
      case 'delete': {
        const turn = this.#of(request.owner, request.id);
        if (!turn) return missing;
        turn.deleted = true;
        return { stored: true };
      }
      case 'cancel': {
        const turn = this.#of(request.owner, request.id);
        if (!turn) return missing;
        if (!turn.facts.background || !isOpen(turn)) return { stored: false, reason: 'ended' };
        turn.facts = { ...turn.facts, status: 'cancelled' };
        turn.response = { ...turn.response, status: 'cancelled' };
        this.#bus?.publish('turns.cancelled', { id: request.id });
        return { stored: true, status: 'cancelled' };
      }
      case 'create-conversation':
        this.conversations.set(request.id, { owner: request.owner, createdAt: request.createdAt, ...content() });
        return { stored: true };
      case 'forget-owner':
        return { stored: true };
      default: {
        const conversation = this.conversations.get(request.id);
        if (conversation?.owner !== request.owner) return missing;
        if (request.kind === 'update-conversation') conversation.metadata = content().metadata;
        else if (request.kind === 'delete-conversation') this.conversations.delete(request.id);
        else if (request.kind === 'add-conversation-items') conversation.items.push(...content());
        else {
          const at = conversation.items.findIndex(({ id }) => id === request.item);
          if (at < 0) return missing;
          conversation.items.splice(at, 1);
        }
        return { stored: true };
      }
    }
  }

  #history(owner: string, id: string): Json[] | undefined {
    const turn = this.turns.get(id);
    if (turn?.facts.owner !== owner) return undefined;
    const before = turn.facts.parent === null ? [] : (this.#history(owner, turn.facts.parent) ?? []);
    if (turn.deleted) return before;
    const { id: itself, at } = turn.facts;
    return at ? [...before, { type: 'upstream_turn', id: itself, at }] : [...before, ...turn.input, ...(turn.response?.output ?? [])];
  }

  /** Turns before the oldest one are gone. */
  #isCut(id: string): boolean {
    const turn = this.turns.get(id);
    return !turn || (turn.facts.parent !== null && this.#isCut(turn.facts.parent));
  }

  #read(request: TurnsRead): Found {
    const { owner } = request;
    const none: Found = { found: { found: false } };
    const conversation = (id: string): Conversation | undefined => {
      const one = this.conversations.get(id);
      return one?.owner === owner ? one : undefined;
    };
    switch (request.kind) {
      case 'turn': {
        const turn = this.#of(owner, request.id);
        if (turn) return { found: { found: true, turn: turn.facts }, content: turn.response };
        return this.turns.get(request.id)?.facts.owner === owner ? { found: { found: false, deleted: true } } : none;
      }
      case 'input-items': {
        const turn = this.#of(owner, request.id);
        return turn ? { found: { found: true }, content: turn.input } : none;
      }
      case 'history': {
        const items = request.turn === undefined ? conversation(request.conversation ?? '')?.items : this.#history(owner, request.turn);
        if (!items) return none;
        const last = request.turn === undefined ? undefined : this.#of(owner, request.turn);
        const cut = request.turn !== undefined && this.#isCut(request.turn);
        return { found: { found: true, ...(last?.facts.at && { at: last.facts.at, turn: last.facts }), ...(cut && { cut }) }, content: items };
      }
      case 'items': {
        const all = [...this.turns.values()]
          .filter(({ facts, deleted }) => facts.owner === owner && !deleted)
          .flatMap(({ input, response }) => [...input, ...(response?.output ?? [])]);
        const ids = new Set(request.ids);
        return { found: { found: true }, content: Object.fromEntries(all.filter(({ id }) => ids.has(id)).map((item) => [item.id, item])) };
      }
      case 'conversation': {
        const one = conversation(request.id);
        return one ? { found: { found: true, createdAt: one.createdAt }, content: one.metadata } : none;
      }
      case 'conversation-items': {
        const one = conversation(request.id);
        if (!one) return none;
        const ordered = request.order === 'asc' ? one.items : one.items.toReversed();
        const from = request.after === undefined ? 0 : ordered.findIndex(({ id }) => id === request.after) + 1;
        return { found: { found: true, hasMore: ordered.length > from + request.limit }, content: ordered.slice(from, from + request.limit) };
      }
      case 'conversation-item': {
        const item = conversation(request.id)?.items.find(({ id }) => id === request.item);
        return item ? { found: { found: true }, content: item } : none;
      }
      default:
        return none;
    }
  }
}
