/** Long conversations as agents really send them: interrupted, reordered, with empty texts, odd names and ids. Made from a seed. */
import { pick, type Random } from '../fuzz/mutate.ts';

export interface Call {
  id: string;
  name: string;
}

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string; signature: string | null }
  | { kind: 'call'; call: Call }
  | { kind: 'result'; call: Call; text: string; image: boolean; failed: boolean }
  | { kind: 'image' };

export interface Step {
  role: 'user' | 'assistant' | 'system';
  pieces: Piece[];
}

const texts = ['Hi', 'Go on.', '', ' ', '\n\n', 'é👋 long '.repeat(5)];
export const toolNames = ['f', 'read_file', 'a.b', `x${'y'.repeat(80)}`];

const shuffled = <T>(list: readonly T[], random: Random): T[] =>
  list
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
const times = (max: number, random: Random): number => Math.floor(random() * (max + 1));

/** `ids`: whether calls always have one. */
export function makeHistory(random: Random, ids: boolean): Step[] {
  const steps: Step[] = [];
  const open: Call[] = [];
  let made = 0;
  const newCall = (): Call => {
    const id = `call_${++made}${random() < 0.2 ? '_'.repeat(70) : ''}`;
    const call = { id: !ids && random() < 0.2 ? '' : id, name: pick(toolNames, random) };
    open.push(call);
    return call;
  };
  const text = (): Piece => ({ kind: 'text', text: pick(texts, random) });
  const assistant = (): Piece[] => {
    const thinking = Array.from(
      { length: times(1, random) },
      (): Piece => ({ kind: 'thinking', text: pick(texts, random), signature: random() < 0.5 ? 'AAAA' : null }),
    );
    const calls = Array.from({ length: times(3, random) }, (): Piece => ({ kind: 'call', call: newCall() }));
    const said = [...Array.from({ length: times(2, random) }, text), ...calls];
    return [...thinking, ...(random() < 0.3 ? shuffled(said, random) : said)];
  };
  const result = (call: Call): Piece => ({ kind: 'result', call, text: pick(texts, random), image: random() < 0.2, failed: random() < 0.2 });
  const user = (): Piece[] => {
    const answered = shuffled(open, random).filter(() => random() < 0.85);
    for (const call of answered) open.splice(open.indexOf(call), 1);
    const stray = random() < 0.08 ? [result({ id: 'call_unknown', name: 'f' })] : [];
    const others = Array.from({ length: times(2, random) }, (): Piece => (random() < 0.2 ? { kind: 'image' } : text()));
    const pieces = [...answered.map(result), ...stray, ...others];
    return random() < 0.2 ? shuffled(pieces, random) : pieces;
  };
  const length = 2 + times(8, random);
  for (let at = 0; at < length; at++) {
    const role = random() < 0.1 ? 'system' : random() < 0.85 ? (at % 2 === 0 ? 'user' : 'assistant') : pick(['user', 'assistant'] as const, random);
    steps.push({ role, pieces: role === 'system' ? [text()] : role === 'user' ? user() : assistant() });
  }
  if (random() < 0.8) steps.push({ role: 'user', pieces: [...open.splice(0).map(result), { kind: 'text', text: 'Go on.' }] });
  return steps;
}
