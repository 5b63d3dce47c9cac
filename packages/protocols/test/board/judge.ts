/** Judges one feature over one pair: did what was asked arrive, did what was answered arrive, and was every difference declared? */
import type { Loss } from '@model-gateway/contracts';
import type { ChatEvent, Message } from '../../src/index.ts';
import { readStream, validate } from '../laws/harness.ts';
import { type Asked, answerStreamed, answerWhole, ask, type Heard, type Pair, understand } from './cross.ts';

export type Word = 'carried' | 'emulated' | 'in part' | 'lost' | 'none';

export interface Verdict {
  word: Word;
  /** The declared losses and emulations behind the word, as `field: detail`. */
  because: readonly string[];
  /** What differs without having been declared: a defect. */
  undeclared: readonly string[];
}

export interface Exchange {
  /** The caller's body; null: its protocol has no word for the feature. */
  sent: object | null;
  /** The same without the feature: what it loses is not held against the feature. */
  without: object | null;
  /** What the upstream's body must hold; a text or a pattern. */
  traces: readonly (string | RegExp)[];
  /** The upstream's answer, which may depend on how it was asked; null: the upstream's protocol has no such thing. */
  answer(asked: Asked): ChatEvent[] | null;
  /** Names what the caller does not get of the answer; [] when all is there. */
  missed(received: { message: Message; text: string }, streamed: boolean): string[];
  forms: readonly ('streamed' | 'whole')[];
  /** Whether cache marks that the gateway sets are part of the matter. */
  marks?: true;
}

export const nothing: Verdict = { word: 'none', because: [], undeclared: [] };
const isLost = ({ action }: Loss): boolean => action === 'dropped' || action === 'downgraded';
const wordsOf = ({ field, detail }: Loss): string => `${field.replaceAll(/\.\d+/g, '')}: ${detail.replace(/\.$/, '')}`;

export function judge(pair: Pair, exchange: Exchange): Verdict {
  if (exchange.sent === null) return nothing;
  const asked = ask(pair, exchange.sent);
  const events = exchange.answer(asked);
  if (events === null) return nothing;
  const problems = exchange.traces.filter((trace) => !holds(asked.text, trace)).map((trace) => `the upstream does not get ${trace}`);
  const losses = [...asked.losses];
  for (const form of exchange.forms) {
    const received = form === 'streamed' ? answerStreamed(pair, asked, events) : answerWhole(pair, asked, events);
    losses.push(...received.losses);
    problems.push(...missedOf(pair, exchange, received, form === 'streamed').map((what) => `${form}: ${what}`));
  }
  return conclude(problems, withoutThose(losses, plainLosses(pair, exchange)), exchange.marks === true && asked.marked);
}

const holds = (text: string, trace: string | RegExp): boolean => (typeof trace === 'string' ? text.includes(trace) : trace.test(text));

function missedOf(pair: Pair, exchange: Exchange, received: Heard, streamed: boolean): string[] {
  const faults = streamed ? validate(pair.client, received.text) : [];
  const ends = !streamed || readStream(pair.client, [Buffer.from(received.text, 'utf8')]).at(-1)?.type === 'end';
  const missed = exchange.missed({ message: understand(pair, received, streamed), text: received.text }, streamed);
  return [...faults, ...(ends ? [] : ['no proper end']), ...missed];
}

const plainLosses = (pair: Pair, { without }: Exchange): readonly Loss[] => (without ? ask(pair, without).losses : []);

/** Each loss once, but for those that the same request has without the feature. */
function withoutThose(losses: readonly Loss[], plain: readonly Loss[]): Loss[] {
  const seen = new Set(plain.map(wordsOf));
  return losses.filter((loss) => {
    const words = wordsOf(loss);
    return !seen.has(words) && seen.add(words);
  });
}

function conclude(problems: readonly string[], losses: readonly Loss[], marked: boolean): Verdict {
  const lost = losses.filter(isLost).map(wordsOf);
  if (problems.length > 0) return lost.length > 0 ? { word: 'lost', because: lost, undeclared: [] } : { word: 'lost', because: [], undeclared: problems };
  const emulated = [
    ...losses.filter(({ action }) => action === 'emulated').map(wordsOf),
    ...(marked ? ['cache marks: the gateway sets them, where the model caches only what is marked'] : []),
  ];
  if (lost.length > 0) return { word: 'in part', because: [...lost, ...emulated], undeclared: [] };
  return { word: emulated.length > 0 ? 'emulated' : 'carried', because: emulated, undeclared: [] };
}
