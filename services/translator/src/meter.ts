/** Counts what a reply used: the upstream's own figures where it gave them, an estimate from the text where it did not. */
import { inputTokensOf, noUsage, outputTokensOf, type Usage, type UsageSource, usualBytesPerToken } from '@model-gateway/contracts';
import type { ChatEvent, DeltaEvent, FinishReason } from '@model-gateway/protocols';

/** What two calls of an upstream used together; the tier is that of `one`. */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum: Usage = { ...one };
  const { helper: _helper, serviceTier: _tier, ...counts } = other;
  for (const [name, count] of Object.entries(counts) as [keyof typeof counts, number | undefined][])
    if (count !== undefined) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The same of calls before and of the last one, which says the tier: each call is priced by its own. */
function withLast(before: Usage, last: Usage): Usage {
  const { serviceTier: _earlier, ...sum } = addUsage(before, last);
  return last.serviceTier === undefined ? sum : { ...sum, serviceTier: last.serviceTier };
}

type Written = Pick<Usage, 'output' | 'reasoning'>;

/** What was measured, or what had flowed where that is more. Where the upstream counts reasoning within the output, the two are compared together. */
function atLeast(measured: Written, flowed: Written): Written {
  const output = Math.max(measured.output, flowed.output);
  if (measured.reasoning > 0) return { output, reasoning: Math.max(measured.reasoning, flowed.reasoning) };
  return { output, reasoning: Math.max(0, flowed.output + flowed.reasoning - output) };
}

export class Meter {
  #usage: Usage | null = null;
  /** The usage is a reader's own guess. */
  #guessed = false;
  #outputBytes = 0;
  #reasoningBytes = 0;
  /** Tokens, in fractions. */
  #sound = 0;
  /** Of earlier calls of the upstream for the same reply. */
  #before: { tokens: Usage; guessed: boolean } | null = null;
  #earlier: Usage[] = [];
  /** Why the reply ended; null while that is not known. */
  finish: FinishReason | null = null;
  /** The vendor's id of the model that answered, where it let another one than was asked for do so. */
  servedModel: string | null = null;

  see(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'text-delta' || event.type === 'arguments-delta' || event.type === 'refusal-delta') this.#outputBytes += Buffer.byteLength(event.text);
      else if (event.type === 'thinking-delta') this.#reasoningBytes += Buffer.byteLength(event.text);
      else if (event.type === 'block-start') this.#sound += (event.block.type === 'raw' && event.block.sound) || 0;
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

  /** A delta of which only the length is known, in bytes of UTF-8. */
  grow(type: DeltaEvent['type'], bytes: number): void {
    if (type === 'thinking-delta') this.#reasoningBytes += bytes;
    else this.#outputBytes += bytes;
  }

  /** Forgets a reply that was given up before the caller saw any of it. */
  reset(): void {
    this.#before = null;
    this.#earlier = [];
    this.forgetCall();
  }

  /** Forgets the present call, which is made anew. */
  forgetCall(): void {
    this.#usage = null;
    this.#guessed = false;
    this.#outputBytes = 0;
    this.#reasoningBytes = 0;
    this.#sound = 0;
    this.finish = null;
    this.servedModel = null;
  }

  /** What is known so far; undefined when nothing was metered. */
  get usage(): Usage | undefined {
    if (this.#usage && this.#before) return withLast(this.#before.tokens, this.#usage);
    return this.#usage ?? undefined;
  }

  /** The present call brought text, or sound. */
  get hasSeenText(): boolean {
    return this.#outputBytes + this.#reasoningBytes + this.#sound > 0;
  }

  /** What each earlier call of the upstream for the same reply used. */
  get earlierCalls(): readonly Usage[] {
    return this.#earlier;
  }

  /** The upstream is called again for the same reply: what was used so far stays. */
  nextCall(promptTokens: () => number): void {
    const own = this.settleCall(true, promptTokens).tokens;
    const { tokens, source } = this.settle(true, promptTokens);
    this.#before = { tokens, guessed: source === 'estimated' };
    this.#earlier.push(own);
    this.forgetCall();
  }

  /**
   * The final figures. A complete reply's own usage is kept. A broken one keeps what was measured and adds the estimate of what had flowed, never less.
   * Without any usage everything is estimated, if anything flowed; so is a prompt of no tokens that was answered, and its reply where that has none either:
   * servers that count nothing fill in zeros. `promptTokens` is asked then alone.
   */
  settle(complete: boolean, promptTokens: () => number): { tokens: Usage; source: UsageSource | null } {
    const own = this.settleCall(complete, promptTokens);
    if (!this.#before) return own;
    const source = this.#before.guessed || own.source === 'estimated' ? 'estimated' : (own.source ?? 'partial');
    return { tokens: withLast(this.#before.tokens, own.tokens), source };
  }

  /** The same of the present call alone. */
  settleCall(complete: boolean, promptTokens: () => number): { tokens: Usage; source: UsageSource | null } {
    const output = Math.ceil(this.#outputBytes / usualBytesPerToken);
    const reasoning = Math.ceil(this.#reasoningBytes / usualBytesPerToken);
    if (this.#usage) {
      const isUncounted = this.hasSeenText && inputTokensOf(this.#usage) === 0;
      const counted = isUncounted ? { ...this.#usage, input: promptTokens() } : this.#usage;
      const isGuess = this.#guessed || isUncounted;
      if (complete && !(isUncounted && outputTokensOf(counted) === 0)) return { tokens: counted, source: isGuess ? 'estimated' : 'upstream' };
      return { tokens: { ...counted, ...atLeast(counted, { output, reasoning }) }, source: isGuess ? 'estimated' : 'partial' };
    }
    if (!this.hasSeenText && !complete) return { tokens: noUsage, source: null };
    const sound = this.#sound > 0 ? { audioOutput: Math.ceil(this.#sound) } : {};
    return { tokens: { ...noUsage, input: promptTokens(), output, reasoning, ...sound }, source: 'estimated' };
  }
}
