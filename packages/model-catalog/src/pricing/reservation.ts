/**
 * What a request may cost before anything of its reply is known. A reservation is meant to be no less than the cost: budgets are passed by one
 * reservation at most because of it.
 */
import type { ModelFamily } from '../families/index.ts';
import { costOf, pricesFor } from './cost.ts';
import type { InlineFiles } from './inline-files.ts';
import type { Price, TokenPrices } from './price.ts';

/** What a request says of its replies; undefined: nothing. */
interface Said {
  /** Tokens of each reply, and of the thinking before it. */
  output?: number | undefined;
  thinking?: number | undefined;
  /** Replies at once, at least 1. */
  replies: number;
  images?: number | undefined;
  /** Of sound or film. */
  seconds?: number | undefined;
  /** Tiers that its upstream may say it was served in. */
  serviceTiers?: readonly string[] | undefined;
}

type Family = Pick<ModelFamily, 'context' | 'output' | 'minOutput' | 'thinking' | 'thinksBeside'>;

/** Most tokens of a request and of all its replies, and what else may be priced by the piece. */
export interface Expected {
  input: number;
  output: number;
  /** Of files of sound. Absent, as those below: none. */
  audioInput?: number;
  images?: number;
  seconds?: number;
  characters?: number;
  serviceTiers?: readonly string[];
}

/** Bytes of a request to a token: as dense as Chinese prose or minified code; English prose has more bytes to a token. */
const bytesPerToken = 3;
/** What vendors put before a request of their own: how tools are called, what day it is. */
const vendorTokens = 1_000;
/** Of a reply that neither its request nor what is known of its model limits. */
const unlimitedReply = 32_768;
/** No model writes more at once, whatever a request says: nobody empties a shared budget with a figure. */
const maxReplyLength = 1_000_000;
/** Of sound or film where neither the request nor a file in it tells: the longer of the lengths that models of film have by default. */
const usualSeconds = 10;

/** What the request says, kept within what is known of the model. `files`: of its bytes those that are not text. */
export function expectTokens(requestBytes: number, said: Said, family: Family, files: InlineFiles = { bytes: 0, tokens: 0 }): Expected {
  const text = Math.ceil((requestBytes - files.bytes) / bytesPerToken);
  const window = family.context ?? Number.POSITIVE_INFINITY;
  const sound = files.seconds === undefined ? 0 : Math.min(files.tokens, window);
  const input = Math.min(text + files.tokens + vendorTokens, window) - sound;
  const max = family.output ?? maxReplyLength;
  const reply = Math.min(said.output === undefined ? (family.output ?? unlimitedReply) : Math.max(said.output, family.minOutput), max);
  return {
    input,
    ...(sound > 0 && { audioInput: sound }),
    output: (reply + thinkingBeside(said, family)) * said.replies,
    images: said.images ?? said.replies,
    seconds: said.seconds ?? files.seconds ?? usualSeconds,
    // A character has a byte at least.
    characters: requestBytes - files.bytes,
    ...(said.serviceTiers && { serviceTiers: said.serviceTiers }),
  };
}

/** Thinking counts within the reply's limit, but for the families that count it beside. */
function thinkingBeside({ thinking }: Said, family: Family): number {
  if (!family.thinksBeside || family.thinking.style === 'none') return 0;
  return Math.min(thinking ?? family.thinking.max, family.thinking.max);
}

/** A model that is called again and again for one reply, with what was found meanwhile. */
export interface RepeatedCalls {
  /** At least 1. */
  calls: number;
  /** Tokens that each call but the first may read beside the request. */
  found: number;
}

/** In millionths, of all these calls. Prices by the piece are of the reply, however many calls it takes. */
export function reservationOfCalls(price: Price, expected: Expected, { calls, found }: RepeatedCalls, { context }: Pick<Family, 'context'>): number {
  const first = reservationOf(price, expected);
  if (price.mode !== 'per_token' || calls === 1) return first;
  const input = Math.min(expected.input + found, context ?? Number.POSITIVE_INFINITY);
  return first + (calls - 1) * reservationOf(price, { ...expected, input });
}

/** In millionths: each token at the dearest that it may be counted as. 0 where the price goes by what nobody expects. */
export function reservationOf(price: Price, { serviceTiers = [], ...expected }: Expected): number {
  const counts = { ...expected, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, reasoning: 0 };
  if (price.mode !== 'per_token') return costOf(price, counts) ?? 0;
  // A tier holds for the whole request, and a shorter one may stay below it; a tier that is asked for may not be had: whichever is dearest.
  const read = counts.input + (counts.audioInput ?? 0);
  const asked = price.serviceTiers.filter((tier) => serviceTiers.includes(tier.serviceTier) && tier.aboveTokens <= read);
  const candidates = [price, pricesFor(price, counts), ...asked.map(({ prices }) => prices)];
  return Math.max(...candidates.map((prices) => costOf({ ...price, tiers: [], serviceTiers: [], ...dearest(prices) }, counts) ?? 0));
}

/** Which kinds the tokens of a request and of its reply fall into is the upstream's to say; that a prompt holds sound the request says itself. */
function dearest(prices: TokenPrices): Pick<TokenPrices, 'input' | 'audioInput' | 'output'> {
  const input = Math.max(prices.input, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h, prices.imageInput);
  return {
    input,
    audioInput: Math.max(prices.audioInput, input),
    output: Math.max(prices.output, prices.reasoning, prices.imageOutput, prices.audioOutput),
  };
}
