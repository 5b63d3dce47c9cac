/** Notes who owns a response that the upstream keeps, as soon as its id is known. */
import type { TurnAtUpstream, TurnFacts } from '@model-gateway/contracts';
import { writeTurn } from './ask-store.ts';
import type { TurnDeps } from './deps.ts';

/** The first events of a stream; the id is in the first of them. */
const maxLooked = 256 * 1024;

/** What is known of the turn before the upstream has named it. */
export type UnnamedTurn = Omit<TurnFacts, 'id' | 'at' | 'status'>;

export class UpstreamRegistration {
  readonly #facts: UnnamedTurn;
  readonly #deps: Pick<TurnDeps, 'bus' | 'logger'>;
  /** Where the present attempt goes. */
  readonly #at: () => TurnAtUpstream | undefined;
  #written: Promise<boolean> | undefined;
  #looked = 0;

  constructor(facts: UnnamedTurn, at: () => TurnAtUpstream | undefined, deps: Pick<TurnDeps, 'bus' | 'logger'>) {
    this.#facts = facts;
    this.#at = at;
    this.#deps = deps;
  }

  /** Whole events of a stream. */
  sees(events: Uint8Array | string): void {
    if (this.#written || this.#looked > maxLooked) return;
    this.#looked += events.length;
    const text = typeof events === 'string' ? events : Buffer.from(events.buffer, events.byteOffset, events.byteLength).toString('utf8');
    for (const line of text.split('\n')) {
      if (!line.startsWith('data:') || !line.includes('"response"')) continue;
      this.#note(idOf(parse(line.slice('data:'.length)), 'response'));
    }
  }

  seesWhole(body: Uint8Array): void {
    this.#note(idOf({ response: parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')) }, 'response'));
  }

  /** Resolves with whether the owner is noted. */
  async written(): Promise<boolean> {
    return (await this.#written) ?? false;
  }

  #note(id: string | undefined): void {
    const at = this.#at();
    if (this.#written || id === undefined || !at) return;
    const turn: TurnFacts = { ...this.#facts, id, status: 'in_progress', at };
    this.#written = writeTurn(this.#deps.bus, { kind: 'begin', turn }).then(
      ({ stored }) => stored,
      (error: unknown) => {
        this.#deps.logger.warn({ turn: id, error }, 'the owner of a response that its upstream keeps could not be noted');
        return false;
      },
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const maxIdLength = 200;

function idOf(event: unknown, key: string): string | undefined {
  const holder = typeof event === 'object' && event !== null ? (event as Record<string, unknown>)[key] : undefined;
  const id = typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)['id'] : undefined;
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength ? id : undefined;
}
