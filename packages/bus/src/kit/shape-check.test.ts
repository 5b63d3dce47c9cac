import { describe, expect, test } from '@jest/globals';
import { askShapes, eventShapes, openShapes, type Shape } from '@model-gateway/contracts';
import { sampleAsks, sampleEvent, sampleOpens } from '../../../../tests/support/bus-samples.ts';
import { fitsSurely } from './shape-check.ts';

const samples: [string, Shape, unknown][] = [
  ...Object.entries(askShapes).flatMap(([subject, { request, reply }]): [string, Shape, unknown][] => {
    const sample = sampleAsks[subject as keyof typeof sampleAsks] as { request: unknown; reply: unknown };
    return [
      [`${subject} request`, request, sample.request],
      [`${subject} reply`, reply, sample.reply],
    ];
  }),
  ...Object.entries(openShapes).flatMap(([subject, { request, head, tail }]): [string, Shape, unknown][] => {
    const sample = sampleOpens[subject as keyof typeof sampleOpens] as { request: unknown; head: unknown; tail: unknown };
    return [
      [`${subject} request`, request, sample.request],
      [`${subject} head`, head, sample.head],
      [`${subject} tail`, tail, sample.tail],
    ];
  }),
  ...Object.entries(eventShapes).map(([subject, shape]): [string, Shape, unknown] => [subject, shape, sampleEvent[subject as keyof typeof sampleEvent]]),
];

const oddities: readonly unknown[] = [
  ...[undefined, null, true, false, '', 'x', 'sse', 'none', 'x'.repeat(200), 'x'.repeat(201), 'x'.repeat(1001)],
  ...[0, -0, 1, 2, -1, 1.5, 99, 100, 599, 600, 1e15, 2 ** 53, 8_640_000_000_000_000, 8_640_000_000_000_001, Number.NaN, Number.POSITIVE_INFINITY],
  ...[{}, [], ['x'], [1], [{}], new Map(), new Date(0), Object.create({ inherited: 1 }), JSON.parse('{"__proto__":1}'), new Array(10_001).fill('x')],
];

describe('fitsSurely', () => {
  test.each(samples)('accepts a sample of %s at once', (_what, shape, sample) => {
    expect(fitsSurely(shape, JSON.parse(JSON.stringify(sample)))).toBe(true);
  });

  test.each(samples)('accepts nothing as %s that the schema refuses, whatever stands wherever', (_what, shape, sample) => {
    for (const value of variants(JSON.parse(JSON.stringify(sample)))) if (fitsSurely(shape, value)) expect(shape.safeParse(value).success).toBe(true);
  });

  test('leaves what it does not know to the schema', () => {
    const { request: job } = openShapes['translator.run'];
    expect(
      fitsSurely(
        job.refine(() => false),
        sampleOpens['translator.run'].request,
      ),
    ).toBe(false);
    expect(
      fitsSurely(
        job.transform(() => 1),
        sampleOpens['translator.run'].request,
      ),
    ).toBe(false);
    expect(fitsSurely(job.strict(), sampleOpens['translator.run'].request)).toBe(false);
  });
});

/** The value with one place of it replaced by each oddity, or left out. */
function* variants(value: unknown): Generator<unknown> {
  yield* oddities;
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) {
    const copy = Array.isArray(value) ? (odd: unknown) => value.with(Number(name), odd) : (odd: unknown) => ({ ...value, [name]: odd });
    const { [name]: inner, ...without } = value as Record<string, unknown>;
    if (!Array.isArray(value)) yield without;
    for (const odd of variants(inner)) yield copy(odd);
  }
}
