import { describe, expect, test } from '@jest/globals';
import type { Loss } from '@model-gateway/contracts';
import { type ChatEvent, foldEvents, type Target } from '../../src/index.ts';
import { ask, contextOf, unwrapped } from '../board/cross.ts';
import { replyContext, type Speaker, speakers, target, upstreams, validate } from '../laws/harness.ts';
import { bodies, type Path } from './bodies.ts';
import { loudReplies, replies, withField } from './replies.ts';

const models: Readonly<Record<string, string>> = { alpha: 'gpt-4.1', alpha_response: 'gpt-4.1', beta: 'claude-sonnet-4-5', gamma: 'gemini-2.5-flash' };

const speaker = (id: string): Speaker => speakers.find((one) => one.id === id)!;

interface Heard {
  // biome-ignore lint/suspicious/noExplicitAny: a wire body.
  body: any;
  stream: string;
  losses: readonly Loss[];
}

/** What `client` gets of the whole reply, and of the same as a stream. */
function receive(client: string, upstream: string, reply: unknown): Heard {
  const to: Target = { ...target, upstreamModelId: models[upstream]! };
  const { upstream: door } = speaker(upstream);
  const pair = { client: speaker(client), upstream: { ...upstreams.find(({ id }) => id === upstream)!, target: to } };
  const asked = ask(pair, bodies[client]!);
  const { read, losses } = unwrapped(asked, door.readWhole(structuredClone(reply), to));
  const whole = pair.client.client.writeWhole(foldEvents(read), contextOf(asked));
  const writer = pair.client.client.createWriter(contextOf(asked));
  const stream = read.map((event: ChatEvent) => writer.write(event)).join('');
  expect(validate(pair.client, stream)).toEqual([]);
  const names = (list: readonly Loss[]) => list.map(({ action, field }) => `${action} ${field}`).sort();
  expect(names(writer.losses)).toEqual(names(whole.losses));
  return { body: whole.body, stream, losses: [...losses, ...whole.losses] };
}

const described = ({ body, losses }: Heard): string => JSON.stringify([body, losses]);

describe('what a reply says reaches the caller, or a loss names it', () => {
  for (const [upstream, fields] of Object.entries(loudReplies)) {
    test.each(fields)(`${upstream}: %j = %j`, (path, value) => {
      const silent = speakers
        .map(({ id }) => id)
        .filter(
          (client) =>
            client !== upstream &&
            described(receive(client, upstream, replies[upstream])) === described(receive(client, upstream, withField(replies[upstream], path, value))),
        );
      expect(silent).toEqual([]);
    });
  }

  test.each(['alpha', 'alpha_response', 'beta', 'gamma'])('a plain reply of %s loses nothing', (upstream) => {
    for (const { id } of speakers) if (id !== upstream) expect(receive(id, upstream, replies[upstream]).losses).toEqual([]);
  });
});

describe('the tier that served a reply', () => {
  const at: Readonly<Record<string, Path>> = {
    alpha: ['service_tier'],
    alpha_response: ['service_tier'],
    beta: ['usage', 'service_tier'],
    gamma: ['usageMetadata', 'serviceTier'],
  };
  const words: Readonly<Record<string, string>> = { beta: 'standard', gamma: 'standard' };
  const ids = Object.keys(at);
  test.each(ids.flatMap((upstream) => ids.filter((client) => client !== upstream).map((client) => [upstream, client] as const)))(
    'of %s reaches a caller of %s in its own words, whole and streamed',
    (upstream, client) => {
      for (const tier of ['default', 'priority']) {
        const said = (id: string) => (tier === 'default' ? (words[id] ?? tier) : tier);
        const { body, stream, losses } = receive(client, upstream, withField(replies[upstream], at[upstream]!, said(upstream)));
        expect(at[client]!.reduce((value, step) => value[step], body)).toBe(said(client));
        expect(stream).toContain(JSON.stringify({ [at[client]!.at(-1)!]: said(client) }).slice(1, -1));
        expect(losses).toEqual([]);
      }
    },
  );
});

describe('what filters found', () => {
  test('to be harmless is not worth a word', () => {
    const safe = { hate: { filtered: false, severity: 'safe' }, jailbreak: { filtered: false, detected: false } };
    const reply = withField(
      withField(replies['alpha'], ['choices', 0, 'content_filter_results'], safe),
      ['prompt_filter_results'],
      [{ content_filter_results: safe }],
    );
    expect(receive('beta', 'alpha', reply).losses).toEqual([]);
  });
});

describe('token probabilities', () => {
  const probable = { token: 'Hello', logprob: -0.1, bytes: [72], top_logprobs: [{ token: 'Hi', logprob: -2, bytes: [73] }] };

  test('are asked of a Responses upstream, and by a Responses caller', () => {
    const asks = (client: string, upstream: string, more: object, upstreamModelId = 'gpt-4.1') => {
      const found = { ...upstreams.find(({ id }) => id === upstream)!, target: { ...target, upstreamModelId } };
      const { text, losses } = ask({ client: speaker(client), upstream: found }, { ...bodies[client]!, ...more });
      return { body: JSON.parse(text), fields: losses.map(({ field }) => field).filter((field) => /logprobs/.test(field)) };
    };
    expect(asks('alpha', 'alpha_response', { logprobs: true, top_logprobs: 2 })).toMatchObject({
      body: { include: ['message.output_text.logprobs'], top_logprobs: 2 },
      fields: [],
    });
    expect(asks('alpha', 'alpha_response', { logprobs: true, top_logprobs: 2 }, 'o3')).toMatchObject({
      body: { include: ['reasoning.encrypted_content'] },
      fields: ['logprobs', 'top_logprobs'],
    });
    const included = { include: ['message.output_text.logprobs'], top_logprobs: 2 };
    expect(asks('alpha_response', 'alpha', included)).toMatchObject({ body: { logprobs: true, top_logprobs: 2 }, fields: [] });
    expect(asks('alpha_response', 'gamma', included, 'gemini-2.5-flash').body.generationConfig).toMatchObject({ responseLogprobs: true, logprobs: 2 });
    expect(asks('alpha_response', 'beta', included, 'claude-sonnet-4-5').fields).toContain('logprobs');
  });

  test('of a Responses upstream become fields of the choice', () => {
    const { body, stream, losses } = receive(
      'alpha',
      'alpha_response',
      withField(replies['alpha_response'], ['output', 0, 'content', 0, 'logprobs'], [probable]),
    );
    expect(body.choices[0].logprobs).toEqual({ content: [probable], refusal: null });
    expect(stream).toContain(JSON.stringify({ logprobs: { content: [probable], refusal: null } }).slice(1, -1));
    expect(losses).toEqual([]);
  });

  test('of a choice become fields of the text for a Responses caller', () => {
    const reply = withField(replies['alpha'], ['choices', 0, 'logprobs'], { content: [{ ...probable, bytes: null }], refusal: null });
    const calling = withField(reply, ['choices', 0, 'message', 'tool_calls'], [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]);
    const { body, stream, losses } = receive('alpha_response', 'alpha', calling);
    expect(body.output[0].content[0].logprobs).toEqual([{ ...probable, bytes: [] }]);
    expect(stream).toContain(`"text":"Hello","logprobs":${JSON.stringify([{ ...probable, bytes: [] }])}`);
    expect(losses).toEqual([]);
  });
});

describe('a signature that comes with a whole call', () => {
  test('precedes it for a caller of messages, streamed and whole', () => {
    const call = {
      index: 0,
      id: 'c1',
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}' },
      extra_content: { google: { thought_signature: 'proof' } },
    };
    const reader = speaker('alpha').upstream.createReader(target);
    const chunks = [
      { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [call] }, finish_reason: null }] },
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ];
    const events = [...chunks.flatMap((json) => reader.read({ data: '', json })), ...reader.finish()];
    const { client } = speaker('beta');
    const writer = client.createWriter(replyContext());
    const stream = events.map((event) => writer.write(event)).join('');
    expect(validate(speaker('beta'), stream)).toEqual([]);
    const streamed = [...stream.matchAll(/^data: (\{"type":"content_block_start".*)$/gm)].map(([, json]) => JSON.parse(json!).content_block.type);
    const whole = client.writeWhole(foldEvents(events), replyContext()).body as { content: { type: string }[] };
    expect(streamed).toEqual(['thinking', 'tool_use']);
    expect(whole.content.map(({ type }) => type)).toEqual(streamed);
  });
});
