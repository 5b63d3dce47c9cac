/** Writes one turn to the store: its beginning while the reply flows, its end before the reply's last event leaves. */
import { sealedAs, type TurnFacts, type TurnStatus, type TurnsWritten } from '@model-gateway/contracts';
import { type PrintedResponse, printResponse, storeAway, writeTurn, writeTurnContent, writeTurnEnd } from './ask-store.ts';
import type { TurnDeps } from './deps.ts';

/** How long the end of a reply waits for the store. */
const commitMs = 50;
/** What a message of a durable subject may hold beside its facts, on a server of ordinary settings. */
const maxOutboxLength = 900 * 1024;

/** What is stored beside the facts. */
export interface TurnContent {
  /** The turn's own input items, each with an id. */
  input(): unknown[];
}

type Outcome = 'stored' | 'refused' | 'away';

export class TurnWriter {
  readonly #facts: TurnFacts;
  readonly #content: TurnContent;
  readonly #deps: TurnDeps;
  #input: unknown[] | undefined;
  #beginning: Promise<TurnsWritten | null> | undefined;
  #begun = false;

  constructor(facts: TurnFacts, content: TurnContent, deps: TurnDeps) {
    this.#facts = facts;
    this.#content = content;
    this.#deps = deps;
  }

  /** Resolves with null where the store is away. Sent once. */
  begin(response: unknown): Promise<TurnsWritten | null> {
    this.#beginning ??= this.#begin(response);
    return this.#beginning;
  }

  /** Rejects with `storage_unavailable`. */
  async beginOrThrow(response: unknown): Promise<TurnsWritten> {
    const written = await this.begin(response);
    if (!written) throw storeAway();
    return written;
  }

  async #begin(response: unknown): Promise<TurnsWritten | null> {
    try {
      const written = await writeTurnContent(
        this.#deps.bus,
        { kind: 'begin', turn: this.#facts },
        { input: this.#ownInput(), response: printResponse(response) },
      );
      this.#begun = written.stored;
      return written;
    } catch (error) {
      this.#deps.logger.info({ turn: this.#facts.id, error }, 'the beginning of a turn could not be stored');
      return null;
    }
  }

  /** A run that was queued begins. Its end, which comes later, says all that matters. */
  async moveOn(response: unknown): Promise<void> {
    try {
      const turn: TurnFacts = { ...this.#facts, status: 'in_progress' };
      await writeTurnContent(this.#deps.bus, { kind: 'begin', turn }, { input: [], response: printResponse(response) });
    } catch (error) {
      this.#deps.logger.info({ turn: this.#facts.id, error }, 'the beginning of a queued turn could not be stored');
    }
  }

  /** Resolves when the turn is committed, lies in the outbox, or cannot be stored (false). */
  async finish(status: TurnStatus, response: PrintedResponse): Promise<boolean> {
    const outcome = await new Promise<Outcome>((resolve) => {
      const late = setTimeout(() => resolve('away'), commitMs);
      void this.#finish(status, response).then((known) => {
        clearTimeout(late);
        resolve(known);
      });
    });
    return outcome === 'away' ? this.#leaveInOutbox(status, response) : outcome === 'stored';
  }

  /** Takes back a turn of which its caller has seen nothing: the lock of its conversation is let go. */
  async discard(response: unknown): Promise<void> {
    const { owner, id } = this.#facts;
    try {
      if (!(await this.#beginning)?.stored) return;
      await writeTurn(this.#deps.bus, { kind: 'finish', owner, id, status: 'failed', authority: 2, conversation: null }, response);
      await writeTurn(this.#deps.bus, { kind: 'delete', owner, id });
    } catch (error) {
      this.#deps.logger.info({ turn: id, error }, 'a turn that gave no reply is left to the store');
    }
  }

  async #finish(status: TurnStatus, response: PrintedResponse): Promise<Outcome> {
    const { owner, id, conversation } = this.#facts;
    const { bus, logger } = this.#deps;
    try {
      const begun = await this.#beginning;
      if (begun && !begun.stored) return 'refused';
      const written = begun
        ? await writeTurnEnd(bus, { kind: 'finish', owner, id, status, authority: 2, conversation }, response)
        : await writeTurnContent(bus, { kind: 'put', turn: { ...this.#facts, status }, authority: 2 }, { input: this.#ownInput(), response });
      // What has ended already is stored: its caller cancelled it.
      return written.stored || written.reason === 'ended' ? 'stored' : 'refused';
    } catch (error) {
      logger.info({ turn: id, error }, 'the end of a turn goes to the outbox');
      return 'away';
    }
  }

  #leaveInOutbox(status: TurnStatus, { bytes }: PrintedResponse): boolean {
    const { id, owner } = this.#facts;
    const { bus, keyring, logger } = this.#deps;
    const input = this.#begun ? '' : `"input":${JSON.stringify(this.#ownInput())},`;
    const content = keyring.seal(`{${input}"response":${Buffer.from(bytes).toString('utf8')}}`, sealedAs.turn(owner, id));
    if (content.length > maxOutboxLength) return false;
    bus
      .publishDurable('turns.finished', id, { turn: { ...this.#facts, status }, authority: 2, content })
      .catch((error: unknown) => logger.error({ turn: id, error }, 'the end of a turn is lost'));
    return true;
  }

  #ownInput(): unknown[] {
    this.#input ??= this.#content.input();
    return this.#input;
  }
}
