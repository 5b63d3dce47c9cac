/** A12, A13 in process: for each of the 16 pairs an upstream stream is cut at every byte, by a reset and by a clean end; no caller is ever left or lied to. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { bytes, foldAll, meaningOf, readStream, type Speaker, speakers, validate, writePieces } from '../../packages/protocols/test/laws/harness.ts';
import { replyScenarios } from '../../packages/protocols/test/laws/scenarios.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
const agent = new Agent({ connections: 4 });
let gateway: InProcessGateway;

/** A streamed request of each client protocol. */
const calls: Record<string, (model: string) => { path: string; body: object }> = {
  alpha: (model) => ({ path: '/v1/chat/completions', body: { model, stream: true, messages: [{ role: 'user', content: 'x' }] } }),
  alpha_response: (model) => ({ path: '/v1/responses', body: { model, stream: true, input: 'x' } }),
  beta: (model) => ({ path: '/v1/messages', body: { model, stream: true, max_tokens: 50, messages: [{ role: 'user', content: 'x' }] } }),
  gamma: (model) => ({ path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`, body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] } }),
};

beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    strict: false,
    upstreams: speakers.map(({ id }) => ({ name: id, protocol: id, base_url: 'https://upstream.test', api_keys: [{ key: 'upstream-secret' }] })),
    models: speakers.map(({ id }) => ({ name: id, upstream: id, upstream_model_id: 'real-model' })),
  });
});
afterAll(async () => {
  await agent.close();
  await gateway.stop();
});

async function ask(client: Speaker, model: string): Promise<{ status: number; text: string }> {
  const { path, body } = calls[client.id]!(model);
  const reply = await request(gateway.url + path, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.statusCode, text: await reply.body.text() };
}

function eventByEvent(stream: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const buffer = Buffer.from(stream);
  for (let at = 0; at < buffer.length; ) {
    const blank = buffer.indexOf('\n\n', at);
    const end = blank < 0 ? buffer.length : blank + 2;
    pieces.push(stream.subarray(at, end));
    at = end;
  }
  return pieces;
}

const pairs = speakers.flatMap((client) => speakers.map((upstream) => ({ name: `${client.id} ← ${upstream.id}`, client, upstream })));
/** Reasoning with a signature, text beyond ASCII, a call: everything a stream can hold open. */
const scenarios = replyScenarios.filter((one) => one.name === 'thinking, text beyond ASCII, call');

describe.each(pairs)('$name', ({ client, upstream }) => {
  test.each(scenarios)(
    '$name',
    async ({ events }) => {
      const whole = bytes(writePieces(upstream, events).join(''));
      const full = meaningOf(foldAll(events));
      const complete = readStream(upstream, [whole]);
      expect(complete.at(-1)?.type).toBe('end');
      for (let cut = 0; cut <= whole.length; cut++) {
        for (const then of ['reset', 'end'] as const) {
          // A clean end is tried at every seventh byte: it takes the same path as the reset but for one fault code.
          if (then === 'end' && cut % 7 !== 0 && cut !== whole.length) continue;
          // In one read, or event by event as a live upstream writes.
          const prefix = whole.subarray(0, cut);
          outbound.script = { chunks: cut % 2 === 0 ? [prefix] : eventByEvent(prefix), ending: then };
          const { status, text } = await ask(client, upstream.id);
          const where = `${then} at ${cut} of ${whole.length}`;
          const upstreamEnded = endedProperly(upstream, whole.subarray(0, cut), then);
          if (status !== 200) {
            expect({ where, status, error: text.includes('"error"') }).toEqual({ where, status: 502, error: true });
            expect(text).not.toContain('upstream-secret');
            continue;
          }
          expect({ where, problems: validate(client, text) }).toEqual({ where, problems: [] });
          expect({ where, broken: text.includes('\ufffd') }).toEqual({ where, broken: false });
          // Where the end of the body is the end of the reply, a reset after the last event leaves nothing to warn of.
          if (cut < whole.length || terminators[upstream.id] !== undefined)
            expect({ where, warned: text.includes('"_gateway_warning"') }).toEqual({ where, warned: !upstreamEnded });
          const seen = foldAll(readStream(client, [bytes(text)]));
          const seenText = seen.blocks
            .filter((block) => block.start.type === 'text')
            .map((block) => block.text)
            .join('');
          expect(full.text.startsWith(seenText)).toBe(true);
          if (!upstreamEnded)
            expect({ where, finish: ['tool-calls'].includes(seen.finish.reason) && !text.includes('finish') }).toEqual({ where, finish: false });
        }
      }
    },
    400_000,
  );
});

const terminators: Record<string, string> = { alpha: 'data: [DONE]\n\n', alpha_response: 'event: response.completed', beta: '"type":"message_stop"}\n\n' };

/** What the upstream's bytes amount to: its own terminator came, or the body ended cleanly where that is a proper end, without half an event. */
function endedProperly(upstream: Speaker, prefix: Uint8Array, then: 'reset' | 'end'): boolean {
  const text = new TextDecoder().decode(prefix);
  const terminator = terminators[upstream.id];
  if (terminator !== undefined && text.includes(terminator) && text.endsWith('\n\n')) return true;
  if (then === 'reset') return false;
  const last = text.slice(text.lastIndexOf('\n\n') + 2).replace(/^[\s\S]*?data: ?/, '');
  return (
    readStream(upstream, [prefix]).some((event) => event.type === 'end') &&
    (text.endsWith('\n') || last.trim() === '' || last.trim() === '[DONE]' || isJson(last))
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
