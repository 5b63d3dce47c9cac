/** Notes who owns a response that the upstream keeps, as soon as its id is known. */
import { setTimeout as wait } from 'node:timers/promises';
import { sealedAs, type TurnAtUpstream, type TurnFacts } from '@model-gateway/contracts';
import { writeTurn } from './ask-store.ts';
import type { TurnDeps } from './deps.ts';

/** The first events of a stream; the id is in the first of them. */
const maxLooked = 256 * 1024;

/** How long the end of a reply waits for the store; then the outbox takes what is noted. */
const commitMs = 50;

/** What is known of the turn before the upstream has named it. */
export type UnnamedTurn = Omit<TurnFacts, 'id' | 'at' | 'status'>;
type RegistrationDeps = Pick<TurnDeps, 'bus' | 'logger' | 'keyring'>;

export class UpstreamRegistration {
  readonly #facts: UnnamedTurn;
  readonly #deps: RegistrationDeps;
  /** Where the present attempt goes; undefined: that upstream keeps nothing that its caller could name. */
  readonly #at: () => TurnAtUpstream | undefined;
  #turn: TurnFacts | undefined;
  #written: Promise<boolean | 'away'> | undefined;
  #looked = 0;

  constructor(facts: UnnamedTurn, at: () => TurnAtUpstream | undefined, deps: RegistrationDeps) {
    this.#facts = facts;
    this.#at = at;
    this.#deps = deps;
  }

  /** The upstream's name for the turn; undefined: it has not given one, or keeps nothing. */
  get id(): string | undefined {
    return this.#turn?.id;
  }

  /** Whole events of a stream. */
  sees(events: Uint8Array | string): void {
    if (this.#written || this.#looked > maxLooked || !this.#at()) return;
    this.#looked += events.length;
    const text = typeof events === 'string' ? events : Buffer.from(events.buffer, events.byteOffset, events.byteLength).toString('utf8');
    for (const line of text.split('\n')) {
      if (!line.startsWith('data:') || !line.includes('"response"')) continue;
      this.#note(idOf(parse(line.slice('data:'.length)), 'response'));
    }
  }

  seesWhole(body: Uint8Array): void {
    if (!this.#at()) return;
    this.#note(idOf({ response: parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')) }, 'response'));
  }

  /** Resolves when the owner is noted, or that lies in the outbox; false: neither. Also true where no upstream keeps the reply. */
  async written(): Promise<boolean> {
    if (!this.#written) return this.#at() === undefined;
    const timer = new AbortController();
    const late = wait(commitMs, 'away' as const, { signal: timer.signal }).catch(() => 'away' as const);
    const outcome = await Promise.race([this.#written, late]);
    timer.abort();
    return outcome === 'away' ? this.#leaveInOutbox() : outcome;
  }

  #note(id: string | undefined): void {
    const at = this.#at();
    if (this.#written || id === undefined || !at) return;
    const turn: TurnFacts = { ...this.#facts, id, status: 'in_progress', at };
    this.#turn = turn;
    this.#written = writeTurn(this.#deps.bus, { kind: 'begin', turn }).then(
      ({ stored }) => stored,
      (error: unknown) => {
        this.#deps.logger.info({ turn: id, error }, 'the owner of a response that its upstream keeps goes to the outbox');
        return 'away' as const;
      },
    );
  }

  #leaveInOutbox(): boolean {
    if (!this.#turn) return false;
    // Endings alone go through the outbox; how it ended is for its upstream to say.
    const turn: TurnFacts = { ...this.#turn, status: 'completed' };
    const { bus, keyring, logger } = this.#deps;
    bus
      .publishDurable('turns.finished', turn.id, { turn, authority: 2, content: keyring.seal('{}', sealedAs.turn(turn.owner, turn.id)) })
      .catch((error: unknown) => logger.error({ turn: turn.id, error }, 'the owner of a response that its upstream keeps is lost'));
    return true;
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
