/** Messages for the bus that no service of ours sends, the same ones for the same seed: bytes at random, frames that lie about their lengths, and samples with something wrong in them. */
import { frameKind } from '@model-gateway/contracts';
import { frameMark, u32, writeFrame } from '../../packages/bus/src/nats/frame.ts';

/** Numbers from 0 to 1, the same for the same seed. */
export type Draw = () => number;

export function drawsOf(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const below = (draw: Draw, max: number): number => Math.floor(draw() * max);
const oneOf = <T>(draw: Draw, list: readonly T[]): T => list[below(draw, list.length)]!;

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const values: readonly string[] = [
  'null',
  'true',
  '-1',
  '0',
  '0.5',
  '1e308',
  '9007199254740993',
  '-9007199254740991',
  '8640000000000001',
  '""',
  '"x"',
  '"\\u0000"',
  '"\\ud800"',
  '"__proto__"',
  '"constructor"',
  '"gw.v1.*.>"',
  `"${'y'.repeat(5000)}"`,
  '[]',
  '{}',
  '[null]',
  '{"__proto__":{"polluted":true}}',
  '{"toString":1,"length":-1,"then":{}}',
  deep(4000),
];
const texts: readonly string[] = [...values, '', '{', '[1', '{"a":}', 'nul', '\u0000', '{"a":1}{"b":2}', '\ufeff{}', deep(100_000)];

/** The sample's JSON with up to three things wrong in it. */
export function spoilt(draw: Draw, sample: unknown): string {
  let text = JSON.stringify(sample);
  for (let faults = 1 + below(draw, 3); faults > 0; faults--) {
    const root = { it: JSON.parse(text) as unknown };
    const marked = spoilOne(draw, root);
    // What JSON cannot say of a value, such as a key given twice, is put into the text.
    text = JSON.stringify(root.it ?? null).replace(`"${marked}"`, () => oneOf(draw, values));
    try {
      JSON.parse(text);
    } catch {
      return text;
    }
  }
  return draw() < 0.05 ? text.slice(0, below(draw, text.length)) : text;
}

const mark = 'spoilt here';

function spoilOne(draw: Draw, root: { it: unknown }): string {
  let holder: Record<string, unknown> = root;
  let key = 'it';
  for (let depth = 0; depth < 12; depth++) {
    const inner = holder[key];
    if (typeof inner !== 'object' || inner === null || Object.keys(inner).length === 0 || draw() < 0.15) break;
    holder = inner as Record<string, unknown>;
    key = oneOf(draw, Object.keys(inner));
  }
  const how = draw();
  if (how < 0.2 && holder !== root) delete holder[key];
  else if (how < 0.3 && typeof holder[key] === 'object' && holder[key] !== null)
    (holder[key] as Record<string, unknown>)[oneOf(draw, ['more', '0', '__proto__x'])] = mark;
  else holder[key] = mark;
  return mark;
}

const randomBytes = (draw: Draw, length: number): Buffer => Buffer.from(Array.from({ length }, () => below(draw, 256)));
const randomId = (draw: Draw) => ({ number: below(draw, 2 ** 32), salt: below(draw, 2 ** 21) });
const kinds = [...Object.values(frameKind), 0, 99, 255];

/** Any frame: of a stream that nobody has, or of one of `streams`. */
export function hostileFrame(draw: Draw, inbox: string, streams: readonly { number: number; salt: number }[] = []): Buffer {
  const id = streams.length > 0 && draw() < 0.8 ? oneOf(draw, streams) : randomId(draw);
  const header = {
    kind: oneOf(draw, kinds),
    flags: below(draw, 256),
    marks: below(draw, 64),
    attempt: draw() < 0.7 ? 0 : below(draw, 2 ** 16),
    seq: draw() < 0.7 ? below(draw, 8) : below(draw, 2 ** 32),
    ...id,
  };
  const payload =
    draw() < 0.5
      ? Buffer.from(oneOf(draw, texts))
      : Buffer.concat([u32(below(draw, 40), below(draw, 2 ** 32), below(draw, 40)), randomBytes(draw, below(draw, 60))]);
  const frame = writeFrame(header, draw() < 0.8 ? Buffer.from(inbox) : undefined, [payload]);
  if (draw() < 0.1) frame[6] = below(draw, 256);
  return draw() < 0.1 ? frame.subarray(0, below(draw, frame.length)) : frame;
}

/** For a subject that is asked or opened. `inbox`: where an answer would go. */
export function hostileCall(draw: Draw, inbox: string, sample: unknown, isQuestion: boolean): Buffer {
  const how = draw();
  if (how < 0.05) return randomBytes(draw, 1 + below(draw, 200));
  if (how < 0.15) return hostileFrame(draw, inbox);
  const json = Buffer.from(how < 0.25 ? oneOf(draw, texts) : spoilt(draw, sample));
  const body = randomBytes(draw, below(draw, 20));
  const header = { kind: frameKind.open, flags: 0, marks: frameMark.toCallee | (isQuestion ? frameMark.ask : 0), attempt: 0, seq: 0, ...randomId(draw) };
  if (isQuestion) return writeFrame(header, Buffer.from(inbox), [u32(below(draw, 10_000)), json]);
  if (how < 0.3) {
    // Lengths that are not those of what follows, and parcels that never come.
    const lies = [json.length, body.length, 0, 1, 2 ** 32 - 1, 255 * 1024 * 1024, below(draw, 2 ** 32)];
    return writeFrame({ ...header, marks: header.marks | (draw() < 0.5 ? frameMark.parcels : 0) }, Buffer.from(inbox), [
      u32(below(draw, 10_000), oneOf(draw, lies), oneOf(draw, lies)),
      json,
      body,
    ]);
  }
  return writeFrame(header, Buffer.from(inbox), [u32(1 + below(draw, 10_000), json.length, body.length), json, body]);
}

/** For a subject of news. */
export function hostileEvent(draw: Draw, sample: unknown): Buffer {
  const how = draw();
  if (how < 0.1) return randomBytes(draw, 1 + below(draw, 200));
  return Buffer.from((how < 0.25 ? oneOf(draw, texts) : spoilt(draw, sample)) || ' ');
}
