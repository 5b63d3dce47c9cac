/** Law: a reply crosses every pair of protocols, streamed and whole, and means the same on the other side. */
import { describe, expect, test } from '@jest/globals';
import type { Message } from '../../src/index.ts';
import {
  bytes,
  echoOf,
  foldAll,
  meaningOf,
  play,
  readBack,
  readStream,
  replyContext,
  speakers,
  target,
  upstreams,
  validate,
  writeContext,
  writePieces,
} from './harness.ts';
import { replyScenarios, requestScenarios } from './scenarios.ts';

const pairs = speakers.flatMap((client) => upstreams.map((upstream) => ({ client, upstream, name: `${client.id} ← ${upstream.id}` })));

/** Reasons that a protocol has no word for, and what they become there. */
const coarser: Record<string, string[]> = {
  'stop-sequence': ['stop-sequence', 'stop'],
  refusal: ['refusal', 'stop', 'content-filter'],
  'content-filter': ['content-filter', 'refusal'],
};
const acceptedFinishes = (sent: string): string[] => coarser[sent] ?? [sent];

function expectSame(sent: Message, received: Message): void {
  const expected = meaningOf(sent);
  const actual = meaningOf(received);
  expect({ text: actual.text, calls: actual.calls }).toEqual({ text: expected.text, calls: expected.calls });
  // Readable reasoning stays wherever the protocol has a place for it; all four have.
  expect(actual.thinking).toBe(expected.thinking);
  expect(acceptedFinishes(expected.finish)).toContain(actual.finish);
}

describe.each(pairs)('$name', ({ client, upstream }) => {
  test.each(replyScenarios)('streamed: $name', ({ events }) => {
    const fromUpstream = readStream(upstream, [play(upstream, events)]);
    const toClient = writePieces(client, fromUpstream).join('');
    expect(validate(client, toClient)).toEqual([]);
    const seen = readStream(client, [bytes(toClient)]);
    expect(seen.at(-1)?.type).toBe('end');
    expectSame(foldAll(fromUpstream), foldAll(seen));
    expectSame(foldAll(events), foldAll(seen));
  });

  test.each(replyScenarios)('whole: $name', ({ events }) => {
    const { whole } = upstream;
    // A wire that only streams gives a whole reply as the fold of its stream.
    const message = whole
      ? foldAll(upstream.upstream.readWhole(JSON.parse(JSON.stringify(whole(foldAll(events)))) as unknown, upstream.target))
      : foldAll(readStream(upstream, [play(upstream, events)]));
    const out = JSON.parse(JSON.stringify(client.client.writeWhole(message, replyContext(echoOf(client))).body)) as unknown;
    const seen = foldAll(client.upstream.readWhole(out, target));
    expectSame(message, seen);
    expectSame(foldAll(events), seen);
    const { input, cacheRead, output, reasoning } = seen.usage;
    const sent = foldAll(events).usage;
    expect(input + cacheRead).toBe(sent.input + sent.cacheRead);
    expect(output + reasoning).toBe(sent.output + sent.reasoning);
  });

  test.each(requestScenarios)('request: $name', ({ conversation }) => {
    const read = readBack(client, client.upstream.writeRequest(conversation, writeContext(true)).body);
    const written = upstream.upstream.writeRequest(read, writeContext(true, upstream.target));
    const back = upstream.readRequest(JSON.parse(JSON.stringify(written.body)));
    // What differs must have been declared.
    const isDeclared = (field: RegExp): boolean => written.losses.some((loss) => field.test(loss.field));
    const words = (one: typeof conversation): string =>
      JSON.stringify(one.turns.map((turn) => turn.parts.map((part) => ('text' in part ? part.text : part.type))));
    if (!isDeclared(/^messages\.image$/)) expect(words(back)).toBe(words(conversation));
    const system = back.system.map((part) => part.text).join('\n');
    const asked = conversation.system.map((part) => part.text).join('\n');
    if (isDeclared(/^response_format\.json_schema$/)) expect(system.startsWith(asked) && system.includes('"city"')).toBe(true);
    else expect(system).toBe(asked);
    expect(back.tools.map((tool) => [tool.name, tool.description, (tool.parameters as { required?: unknown } | undefined)?.required])).toEqual(
      conversation.tools.map((tool) => [tool.name, tool.description, (tool.parameters as { required?: unknown } | undefined)?.required]),
    );
    // A protocol without named choice may say "any of these" with the one name.
    if (conversation.toolChoice && !isDeclared(/^tool_choice/)) expect(JSON.stringify(back.toolChoice)).toContain('get_weather');
    if (!isDeclared(/^response_format\.json_schema$/)) expect(back.output?.type).toBe(conversation.output?.type);
    for (const [name, value] of Object.entries(conversation.sampling)) {
      const carried = back.sampling[name as keyof typeof back.sampling];
      const lost = [...written.losses].some((loss) => loss.field.toLowerCase().includes(name.toLowerCase().slice(0, 4)) || loss.field.includes('stop'));
      if (!lost && carried === undefined && name === 'stop' && noStopWord.has(upstream.id) !== true && noStopWord.has(client.id) !== true)
        throw new Error(`${name} vanished without a loss`);
      if (carried !== undefined && name !== 'maxTokens') expect(carried).toEqual(value);
    }
  });
});

/** Responses has no stop sequences: a declared loss on the way there. */
const noStopWord = new Set<string>(['alpha_response']);
