/** Records that are not parsed give what parsed ones give: the same bytes or text for the caller, the same counts, the same end. */
import { describe, expect, test } from '@jest/globals';
import { findProtocol, type UpstreamAdapter } from '@model-gateway/protocols';
import fc from 'fast-check';
import { Meter } from '../src/meter.ts';
import { PromptSizes } from '../src/prompt-sizes.ts';
import { Pump } from '../src/pump.ts';
import { TranslatedTransform } from '../src/reply-transform/translated.ts';
import { VerbatimTransform } from '../src/reply-transform/verbatim.ts';

const names = ['alpha', 'beta', 'alpha_response'] as const;
type Name = (typeof names)[number];

interface Played {
  sent: string;
  /** How the caller's stream would be ended. */
  closing: string;
  counts: unknown;
  end: unknown;
  /** Records that were parsed. */
  parsed: number;
}

function play(upstreamName: Name, clientName: Name, pieces: readonly Uint8Array[], grows: boolean, model = 'ours'): Played {
  const protocol = findProtocol(upstreamName)!;
  const client = findProtocol(clientName)!.client!;
  const { deltaFields: _, ...parsing } = protocol.upstream!;
  const registration: UpstreamAdapter = grows ? protocol.upstream! : parsing;
  const sent: Buffer[] = [];
  let minted = 0;
  let parsed = 0;
  const job = { id: 'r1', requestedModel: model, startedAt: 0, streamForm: 'sse', operation: 'generate' };
  const meter = new Meter();
  const record = { meter, settle: (complete: boolean) => meter.settle(complete, () => 25), markContent: () => {}, lose: () => {} };
  const body = { bytes: Buffer.from('{}'), parse: () => ({}), topLevel: () => undefined, readRequest: () => ({ echo: undefined, losses: [] }) };
  const current = { request: { job, client }, record, body };
  const adapter = {
    ...registration,
    createReader: () => {
      const reader = registration.createReader({ upstreamModelId: 'm' } as never);
      return {
        read(framed: Parameters<typeof reader.read>[0]) {
          parsed += 1;
          return reader.read(framed);
        },
        finish: () => reader.finish(),
      };
    },
  };
  const target = { adapter, route: { target: {} }, signatures: { seal: (signature: string) => `sealed(${signature})` } };
  const deps = { maxEventBytes: 1 << 20, promptSizes: new PromptSizes(), mintId: (prefix: string) => `${prefix}${minted++}` };
  const transform =
    upstreamName === clientName
      ? new VerbatimTransform(current as never, protocol.upstream!.verbatim!, target as never, deps as never)
      : new TranslatedTransform(current as never, { target } as never, deps as never);
  const terminator = client.createTerminator({ requestId: 'r1', model, createdAt: 0, streamForm: 'sse', mintId: (prefix) => `${prefix}closing` });
  const sink = {
    commit: () => {},
    send(piece: Uint8Array | string, words = false) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : Buffer.from(piece);
      sent.push(bytes);
      if (!words || !terminator.passes?.(bytes.length)) terminator.observe(bytes);
      return true;
    },
  };
  const pump = new Pump(record as never, { target } as never, { transform, sink }, deps.maxEventBytes);
  for (const piece of pieces) pump.push(piece);
  const end = pump.finish();
  const usage = { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 };
  const closing = terminator.close({ reason: 'r', detail: 'd', timestamp: 't' }, usage);
  return { closing, sent: Buffer.concat(sent).toString('utf8'), counts: record.settle(false), end, parsed };
}

const words = fc.constantFrom(
  'a',
  ' the',
  '',
  '\\n',
  '\\"',
  '\\\\',
  'é',
  '漢字',
  '🙂',
  '\\ud83d\\ude42',
  '\\u00e9',
  '\\ud83d',
  '\\x',
  '\\u12g4',
  '\t',
  '\u007f',
  'data: x',
  '}]',
  'x'.repeat(300),
);
const ends = fc.constantFrom('\n\n', '\n\n', '\n\n', '\r\n\r\n', '\n: note\n\n', '\n\n: ping\n\n');
const numbers = fc.constantFrom('0', '7', '12', '-1', '1.5', '1e3', '007', '123456789012345678');

const chunk = (delta: string, rest = ''): string =>
  `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"theirs","choices":[{"index":0,"delta":${delta},"finish_reason":null}]${rest}}`;
const delta = (kind: string, index: number): string => `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{${kind}}}`;
const response = (type: string, fields: string): string => `event: ${type}\ndata: {"type":"${type}",${fields}}`;

const records: Record<Name, fc.Arbitrary<string>> = {
  alpha: fc.oneof(
    { weight: 8, arbitrary: words.map((text) => chunk(`{"content":"${text}"}`)) },
    { weight: 4, arbitrary: words.map((text) => chunk(`{"content":"${text}"}`, ',"usage":null,"obfuscation":"ab"')) },
    { weight: 4, arbitrary: words.map((text) => chunk(`{"reasoning_content":"${text}"}`)) },
    words.map((text) => chunk(`{"reasoning":"${text}","reasoning_content":"${text}"}`)),
    words.map((text) => chunk(`{"content":"first","content":"${text}"}`)),
    words.map((text) => chunk(`{"c\\u006fntent":"${text}"}`)),
    words.map((text) => chunk(`{"content":"${text}"}`, ',"model":"again"')),
    words.map((text) => chunk(`{"content":"${text}"}`, ',"_gateway_warning":{}')),
    words.map((text) => chunk(`{"tool_calls":[{"index":0,"id":"t1","function":{"name":"f","arguments":"${text}"}}]}`)),
    words.map((text) => chunk(`{"content":"${text}","reasoning_opaque":"proof"}`)),
    fc.constantFrom(
      chunk('{"role":"assistant","content":""}'),
      chunk('{}', ',"usage":{"prompt_tokens":1,"completion_tokens":2}'),
      'data: {',
      'data: {"error":{"message":"no"}}',
      'data: [DONE]',
    ),
  ),
  beta: fc.oneof(
    { weight: 8, arbitrary: words.map((text) => delta(`"type":"text_delta","text":"${text}"`, 0)) },
    { weight: 4, arbitrary: words.map((text) => delta(`"type":"thinking_delta","thinking":"${text}"`, 1)) },
    { weight: 4, arbitrary: words.map((text) => delta(`"type":"input_json_delta","partial_json":"${text}"`, 2)) },
    words.map((text) => delta(`"type":"signature_delta","signature":"${text}"`, 1)),
    fc.constantFrom(
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"theirs","usage":{"input_tokens":3,"output_tokens":1}}}',
      ...[0, 1].map((index) => `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}`),
      'event: content_block_start\ndata: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}',
      'event: ping\ndata: {"type":"ping"}',
      'event: message_stop\ndata: {"type":"message_stop"}',
    ),
  ),
  alpha_response: fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(words, numbers)
        .map(([text, at]) =>
          response('response.output_text.delta', `"sequence_number":${at},"output_index":0,"content_index":0,"delta":"${text}","obfuscation":"xy"`),
        ),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(words, numbers)
        .map(([text, at]) => response('response.function_call_arguments.delta', `"output_index":1,"delta":"${text}","sequence_number":${at}`)),
    },
    fc
      .tuple(words, numbers)
      .map(([text, at]) => response('response.reasoning_summary_text.delta', `"output_index":2,"summary_index":${Number(at) % 2 || 0},"delta":"${text}"`)),
    fc.constantFrom(
      response('response.created', '"response":{"id":"r","model":"theirs"}'),
      response('response.output_item.added', '"output_index":1,"item":{"type":"function_call","call_id":"c","name":"f"}'),
      response('response.output_item.done', '"output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"all"}]}'),
      response('response.completed', '"response":{"id":"r","model":"theirs","status":"completed","output":[]}'),
    ),
  ),
};

/** Cuts that fall anywhere, most of them between events. */
const cut = (events: readonly string[], joins: readonly number[]): Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  let held = Buffer.alloc(0);
  events.forEach((event, at) => {
    held = Buffer.concat([held, Buffer.from(event)]);
    const how = joins[at % joins.length] ?? 0;
    if (how === 0) return;
    const keep = how === 1 ? 0 : Math.min(held.length, how);
    pieces.push(held.subarray(0, held.length - keep));
    held = held.subarray(held.length - keep);
  });
  return [...pieces, held].filter(({ length }) => length > 0);
};

describe.each(names)('%s upstream', (upstream) => {
  test.each(names)('to %s: the same as when every record is parsed', (client) => {
    const stream = fc.array(fc.tuple(records[upstream], ends), { maxLength: 25 }).map((all) => all.map(([record, end]) => record + end));
    const joins = fc.array(fc.constantFrom(1, 1, 1, 0, 2, 3, 40), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(stream, joins, fc.constantFrom('ours', 'theirs', '模型', 'a"b'), (events, how, model) => {
        const pieces = cut(events, how);
        const { parsed: fewer, ...grown } = play(upstream, client, pieces, true, model);
        const { parsed: all, ...read } = play(upstream, client, pieces, false, model);
        expect(grown).toEqual(read);
        expect(fewer).toBeLessThanOrEqual(all);
      }),
      { numRuns: 400 },
    );
  });
});

describe('what is not parsed', () => {
  const run = (upstream: Name, client: Name, events: readonly string[], model = 'ours') =>
    play(
      upstream,
      client,
      events.map((event) => Buffer.from(`${event}\n\n`)),
      true,
      model,
    );
  const hundred = Array.from({ length: 100 }, (_, at) => `word ${at} \\n`);

  test('text of chat completions, with the model’s name exchanged and counts hidden', () => {
    const { parsed, sent } = run('alpha', 'alpha', [
      chunk('{"role":"assistant","content":""}'),
      ...hundred.map((text, at) => chunk(`{"content":"${text}"}`, `,"usage":null,"obfuscation":"${'p'.repeat(at % 9)}"`)),
    ]);
    expect(parsed).toBeLessThanOrEqual(3);
    expect(sent.match(/"model":"ours"/g)).toHaveLength(101);
    expect(sent).not.toMatch(/theirs|usage/);
  });

  test('deltas of messages, and of responses with their numbers', () => {
    expect(
      run(
        'beta',
        'alpha',
        hundred.map((text) => delta(`"type":"text_delta","text":"${text}"`, 0)),
      ).parsed,
    ).toBeLessThanOrEqual(2);
    const numbered = hundred.map((text, at) => response('response.output_text.delta', `"sequence_number":${at},"output_index":0,"delta":"${text}"`));
    expect(run('alpha_response', 'alpha_response', numbered).parsed).toBeLessThanOrEqual(2);
  });

  test('records that are never alike are not studied for ever', () => {
    const unlike = hundred.map((text, at) => chunk(`{"content":"${text}"}`, `,"at":${at}`));
    expect(run('alpha', 'alpha', unlike).parsed).toBe(100);
  });
});
