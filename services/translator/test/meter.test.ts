/** What a reply used: the upstream's figures, and honest estimates where there are none. */
import { describe, expect, test } from '@jest/globals';
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { ChatEvent } from '@model-gateway/protocols';
import { addUsage, Meter } from '../src/meter.ts';

const usage = (more: Partial<Usage>): Usage => ({ ...noUsage, ...more });
const text = (length: number): ChatEvent => ({ type: 'text-delta', index: 0, text: 'x'.repeat(length) });
/** Of so many bytes of text. */
const prompt = (bytes: number) => () => Math.ceil(bytes / 4);
const metered = (...events: ChatEvent[]): Meter => {
  const meter = new Meter();
  meter.see(events);
  return meter;
};

test('the tier of several calls is that of the last, which served the reply', () => {
  const tierOf = (...tiers: (string | undefined)[]) => {
    const meter = new Meter();
    for (const [at, serviceTier] of tiers.entries()) {
      if (at > 0) meter.nextCall(prompt(4));
      meter.see([{ type: 'usage', usage: usage({ input: 1, ...(serviceTier !== undefined && { serviceTier }) }) }]);
    }
    expect(meter.usage?.serviceTier).toBe(meter.settle(true, prompt(4)).tokens.serviceTier);
    return meter.settle(true, prompt(4)).tokens.serviceTier;
  };
  expect([tierOf('flex'), tierOf('flex', undefined), tierOf('flex', 'priority'), tierOf(undefined, 'flex')]).toEqual(['flex', undefined, 'priority', 'flex']);
  expect(addUsage(usage({ input: 1 }), usage({ input: 2, serviceTier: 'flex' }))).toEqual(usage({ input: 3 }));
});

describe('a complete reply', () => {
  test('the upstream’s own figures are kept, whatever flowed', () => {
    const counted = usage({ input: 7, output: 3, reasoning: 1, cacheRead: 5 });
    expect(metered(text(4000), { type: 'usage', usage: counted }).settle(true, prompt(900))).toEqual({ tokens: counted, source: 'upstream' });
  });

  test('explicit zeros stay zero where nothing was written', () => {
    expect(metered({ type: 'usage', usage: noUsage }).settle(true, prompt(900))).toEqual({ tokens: noUsage, source: 'upstream' });
  });

  // https://github.com/chenyme/grok2api/issues/612, https://github.com/lm-sys/FastChat/issues/2170
  test('a prompt without tokens was not counted, nor was a reply of text without any', () => {
    const settled = (counted: Partial<Usage>, complete = true) => metered(text(4000), { type: 'usage', usage: usage(counted) }).settle(complete, prompt(900));
    expect(settled({ output: 54 })).toEqual({ tokens: usage({ input: 225, output: 54 }), source: 'estimated' });
    expect(settled({})).toEqual({ tokens: usage({ input: 225, output: 1000 }), source: 'estimated' });
    expect(settled({ output: 54 }, false)).toEqual({ tokens: usage({ input: 225, output: 1000 }), source: 'estimated' });
    expect(settled({ cacheRead: 7, output: 54 })).toEqual({ tokens: usage({ cacheRead: 7, output: 54 }), source: 'upstream' });
  });

  test('the last usage wins', () => {
    const meter = metered({ type: 'usage', usage: usage({ input: 1 }) }, { type: 'usage', usage: usage({ input: 2, output: 9 }) });
    expect(meter.settle(true, prompt(0)).tokens).toEqual(usage({ input: 2, output: 9 }));
  });

  test('without usage everything is estimated, and said to be', () => {
    expect(metered(text(401)).settle(true, prompt(801))).toEqual({ tokens: usage({ input: 201, output: 101 }), source: 'estimated' });
    expect(new Meter().settle(true, prompt(8))).toEqual({ tokens: usage({ input: 2 }), source: 'estimated' });
  });
});

test('text is estimated by its bytes, so that Chinese counts about what vendors count of it', () => {
  const chinese = metered(
    { type: 'thinking-delta', index: 0, text: '先想一想。'.repeat(20) },
    { type: 'text-delta', index: 1, text: '网关统计每个请求的费用。'.repeat(50) },
  );
  // Vendors count 0.6 to 1 token for a character, of which there are 100 and 600.
  expect(chinese.settle(false, prompt(0)).tokens).toEqual(usage({ output: 450, reasoning: 75 }));
});

describe('a broken reply', () => {
  test('counts the sound that had flowed', () => {
    const piece: ChatEvent = { type: 'block-start', index: 0, block: { type: 'raw', protocol: 'alpha', value: {}, sound: 1.5 } };
    expect(metered(piece, piece).settle(false, prompt(8))).toEqual({ tokens: usage({ input: 2, audioOutput: 3 }), source: 'estimated' });
  });

  test('keeps what was measured and counts what had flowed, never less', () => {
    const meter = metered({ type: 'usage', usage: usage({ input: 50, output: 1 }) }, text(400));
    expect(meter.settle(false, prompt(9999))).toEqual({ tokens: usage({ input: 50, output: 100 }), source: 'partial' });
    const more = metered({ type: 'usage', usage: usage({ input: 50, output: 500 }) }, text(400));
    expect(more.settle(false, prompt(9999)).tokens.output).toBe(500);
  });

  test('reasoning that the upstream counts within the output is counted once', () => {
    const thought = (counted: Partial<Usage>) =>
      metered({ type: 'thinking-delta', index: 0, text: 'x'.repeat(2400) }, text(1600), { type: 'usage', usage: usage({ input: 3, ...counted }) }).settle(
        false,
        prompt(9),
      ).tokens;
    expect(thought({ output: 1000 })).toEqual(usage({ input: 3, output: 1000 }));
    expect(thought({ output: 700 })).toEqual(usage({ input: 3, output: 700, reasoning: 300 }));
    expect(thought({ output: 1 })).toEqual(usage({ input: 3, output: 400, reasoning: 600 }));
    expect(thought({ output: 380, reasoning: 590 })).toEqual(usage({ input: 3, output: 400, reasoning: 600 }));
  });

  test('without usage: an estimate once anything flowed, nothing otherwise', () => {
    expect(metered(text(4)).settle(false, prompt(40))).toEqual({ tokens: usage({ input: 10, output: 1 }), source: 'estimated' });
    expect(new Meter().settle(false, prompt(40))).toEqual({ tokens: noUsage, source: null });
  });

  test('reasoning, arguments and refusals are output that flowed', () => {
    const meter = metered(
      { type: 'thinking-delta', index: 0, text: 'x'.repeat(40) },
      { type: 'arguments-delta', index: 1, text: 'x'.repeat(20) },
      { type: 'refusal-delta', index: 2, text: 'x'.repeat(20) },
    );
    expect(meter.settle(false, prompt(0)).tokens).toEqual(usage({ output: 10, reasoning: 10 }));
  });
});

test('a reply that was given up before the caller saw it is forgotten', () => {
  const meter = metered({ type: 'usage', usage: usage({ input: 50 }) }, text(400));
  meter.reset();
  expect(meter.usage).toBeUndefined();
  expect(meter.settle(false, prompt(40))).toEqual({ tokens: noUsage, source: null });
});

test('calls of one reply add up, and each is known by itself; one that is made anew is forgotten alone', () => {
  const meter = metered({ type: 'usage', usage: usage({ input: 50, output: 5 }) });
  meter.nextCall(prompt(0));
  meter.see([{ type: 'usage', usage: usage({ input: 70 }) }]);
  meter.forgetCall();
  meter.see([{ type: 'usage', usage: usage({ input: 60, output: 6 }) }]);
  expect(meter.earlierCalls).toEqual([usage({ input: 50, output: 5 })]);
  expect(meter.settle(true, prompt(0))).toEqual({ tokens: usage({ input: 110, output: 11 }), source: 'upstream' });
});
