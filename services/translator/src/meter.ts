/** Counts what a reply used: the upstream's own figures where it gave them, an estimate from the text where it did not. */
import { noUsage, type Usage, type UsageSource } from '@model-gateway/contracts';
import type { ChatEvent, DeltaEvent, FinishReason } from '@model-gateway/protocols';

/** Bytes of text to a token: close enough across vendors for what was never counted, and always flagged. */
const bytesPerToken = 4;

export class Meter {
  #usage: Usage | null = null;
  /** The usage is a reader's own guess. */
  #guessed = false;
  #outputChars = 0;
  #reasoningChars = 0;
  /** Why the reply ended; null while that is not known. */
  finish: FinishReason | null = null;
  /** The vendor's id of the model that answered, where it let another one than was asked for do so. */
  servedModel: string | null = null;

  see(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'text-delta' || event.type === 'arguments-delta' || event.type === 'refusal-delta') this.#outputChars += event.text.length;
      else if (event.type === 'thinking-delta') this.#reasoningChars += event.text.length;
      else if (event.type === 'usage') {
        this.#usage = event.usage;
        this.#guessed = event.estimated === true;
      } else if (event.type === 'finish') {
        this.finish = event.reason;
        this.servedModel = event.servedModel ?? null;
      }
    }
  }

  /** The figures of a whole reply. */
  count(usage: Usage): void {
    this.#usage = usage;
    this.#guessed = false;
  }

  /** A delta of which only the length is known, in UTF-16 units. */
  grow(type: DeltaEvent['type'], units: number): void {
    if (type === 'thinking-delta') this.#reasoningChars += units;
    else this.#outputChars += units;
  }

  /** Forgets a reply that was given up before the caller saw any of it. */
  reset(): void {
    this.#usage = null;
    this.#guessed = false;
    this.#outputChars = 0;
    this.#reasoningChars = 0;
    this.finish = null;
    this.servedModel = null;
  }

  /** What is known so far; undefined when nothing was metered. */
  get usage(): Usage | undefined {
    return this.#usage ?? undefined;
  }

  /**
   * The final figures. A complete reply's own usage is kept, explicit zeros included. A broken one keeps what was measured and
   * adds the estimate of what had flowed, never less. Without any usage everything is estimated, if anything flowed;
   * `promptTokens` is asked then alone.
   */
  settle(complete: boolean, promptTokens: () => number): { tokens: Usage; source: UsageSource | null } {
    const output = Math.ceil(this.#outputChars / bytesPerToken);
    const reasoning = Math.ceil(this.#reasoningChars / bytesPerToken);
    if (this.#usage) {
      if (complete) return { tokens: this.#usage, source: this.#guessed ? 'estimated' : 'upstream' };
      const tokens = { ...this.#usage, output: Math.max(this.#usage.output, output), reasoning: Math.max(this.#usage.reasoning, reasoning) };
      return { tokens, source: this.#guessed ? 'estimated' : 'partial' };
    }
    if (output === 0 && reasoning === 0 && !complete) return { tokens: noUsage, source: null };
    return { tokens: { ...noUsage, input: promptTokens(), output, reasoning }, source: 'estimated' };
  }
}
