/** Signatures that a generate-content upstream hangs on calls, carried by the official clients of every protocol and given back on the very same part. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies of five clients are echoed as they are.
type Body = any;

const signature = 'Q2FsbFByb29mKy8=';
const model = 'g';
const part = { functionCall: { name: 'look', args: { at: 'x' }, id: 'up1' }, thoughtSignature: signature };
const chunk = (parts: unknown[], finishReason?: string) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: 'gemini-3-pro-preview',
  responseId: 'r',
});
const streamed: Script = {
  chunks: [chunk([part]), chunk([{ functionCall: { name: 'look', args: {}, id: 'up2' } }], 'STOP')].map((json) =>
    Buffer.from(`data: ${JSON.stringify(json)}\n\n`),
  ),
  ending: 'end',
};
const whole: Script = {
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(chunk([part, { functionCall: { name: 'look', args: {}, id: 'up2' } }], 'STOP')))],
  ending: 'end',
};

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
let anthropic: Anthropic;
let openai: OpenAI;
let google: GoogleGenAI;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: [{ name: 'gam', protocol: 'gamma', base_url: 'https://gam.test', api_keys: [{ key: 'sk-gam' }] }],
    models: [{ name: model, upstream: 'gam', upstream_model_id: 'gemini-3-pro-preview' }],
  });
  anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

/** Each makes a turn, answers both calls with what its client gave it, and makes the next. */
const clients: Record<string, (stream: boolean) => Promise<unknown>> = {
  async messages(stream) {
    const tools: Body = [{ name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }];
    const ask = (messages: Body) => anthropic.messages.stream({ model, max_tokens: 99, tools, messages }).finalMessage();
    const first: Body = stream
      ? await ask([{ role: 'user', content: 'go' }])
      : await anthropic.messages.create({ model, max_tokens: 99, tools, messages: [{ role: 'user', content: 'go' }] });
    const results = first.content
      .filter((block: Body) => block.type === 'tool_use')
      .map((block: Body) => ({ type: 'tool_result', tool_use_id: block.id, content: 'ok' }));
    return ask([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ]);
  },
  async chat(stream) {
    const messages: Body[] = [{ role: 'user', content: 'go' }];
    const message: Body = stream
      ? (await openai.chat.completions.stream({ model, messages }).finalChatCompletion()).choices[0]!.message
      : (await openai.chat.completions.create({ model, messages })).choices[0]!.message;
    const results = message.tool_calls.map((call: Body) => ({ role: 'tool', tool_call_id: call.id, content: 'ok' }));
    return openai.chat.completions.create({ model, messages: [...messages, message, ...results] });
  },
  async responses(stream) {
    const input: Body[] = [{ role: 'user', content: 'go' }];
    const include: Body = ['reasoning.encrypted_content'];
    const reply: Body = stream
      ? await openai.responses.stream({ model, input, store: false, include }).finalResponse()
      : await openai.responses.create({ model, input, store: false, include });
    const results = reply.output
      .filter((item: Body) => item.type === 'function_call')
      .map((item: Body) => ({ type: 'function_call_output', call_id: item.call_id, output: 'ok' }));
    return openai.responses.create({ model, store: false, input: [...input, ...reply.output, ...results] });
  },
  async 'generate-content'(stream) {
    const contents: Body[] = [{ role: 'user', parts: [{ text: 'go' }] }];
    const parts: Body[] = [];
    if (stream)
      for await (const piece of await google.models.generateContentStream({ model, contents })) parts.push(...(piece.candidates?.[0]?.content?.parts ?? []));
    else parts.push(...((await google.models.generateContent({ model, contents })).candidates?.[0]?.content?.parts ?? []));
    const results = parts.flatMap((one) =>
      one.functionCall ? [{ functionResponse: { ...(one.functionCall.id && { id: one.functionCall.id }), name: 'look', response: { result: 'ok' } } }] : [],
    );
    return google.models.generateContent({ model, contents: [...contents, { role: 'model', parts }, { role: 'user', parts: results }] });
  },
};

describe.each(Object.keys(clients))('the %s client', (name) => {
  test.each([['streamed', streamed] as const, ['whole', whole] as const])('%s', async (form, script) => {
    outbound.script = script;
    const send = outbound.send;
    // The second reply is whole or streamed as the second request asks.
    let count = 0;
    outbound.send = (request, handlers) => {
      outbound.script = count++ === 0 ? script : String(request.url).includes('stream') ? streamed : whole;
      return send(request, handlers);
    };
    await clients[name]!(form === 'streamed');
    outbound.send = send;
    const sent: Body = JSON.parse(outbound.sent[1]!.body);
    const calls = sent.contents[1].parts.filter((one: Body) => one.functionCall);
    expect(calls).toHaveLength(2);
    expect(calls[0]).toMatchObject({ functionCall: { name: 'look', args: { at: 'x' } }, thoughtSignature: signature });
    expect(calls[1].thoughtSignature).toBeUndefined();
    const results = sent.contents[2].parts.map((one: Body) => one.functionResponse.id);
    expect(results).toEqual(calls.map((one: Body) => one.functionCall.id));
    // An empty thought is no content for a model.
    expect(sent.contents[1].parts.some((one: Body) => one.thought && one.text === '')).toBe(false);
  });
});
