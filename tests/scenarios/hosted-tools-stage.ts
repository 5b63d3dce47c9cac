import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';
import { type Answer, send } from '../support/send.ts';

export const outbound = createScriptedOutbound();
export const pages = createScriptedOutbound();
export const json = (value: unknown, status = 200): Script => ({
  status,
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(value))],
  ending: 'end',
});
const sse = (events: readonly unknown[]): Script => ({
  chunks: events.map((event) => Buffer.from(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)),
  ending: 'end',
});

/** What the model says, one call after the other, in the form that each kind of upstream has. */
interface Said {
  text?: string;
  calls?: { name: string; arguments: string }[];
  broken?: boolean;
  /** The vendor searched by itself, and cites this. */
  annotations?: object[];
}
/** What the model and the search answer, and in which form the model is asked. */
export const scripted = { said: [] as Said[], search: json(null), asked: 0, isStream: false, isGemini: false };

function chatReply({ text, calls = [], broken, annotations }: Said, stream: boolean): Script {
  const tool_calls = calls.map((call, index) => ({ index, id: `call_${scripted.asked}_${index}`, type: 'function', function: call }));
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
  if (broken) return json({ error: { message: 'down' } }, 500);
  const message = { role: 'assistant', content: text ?? null, ...(annotations && { annotations }), ...(calls.length > 0 && { tool_calls }) };
  if (!stream) return json({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage });
  const chunk = (delta: unknown, reason: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return sse([
    chunk({ role: 'assistant', content: '' }),
    ...(text ?? '').split(/(?<= )/).flatMap((word) => (word === '' ? [] : [chunk({ content: word })])),
    ...tool_calls.flatMap((call) => [
      chunk({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: '' } }] }),
      chunk({ tool_calls: [{ index: call.index, function: { arguments: call.function.arguments } }] }),
    ]),
    ...(annotations ? [chunk({ annotations })] : []),
    chunk({}, finish_reason),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
    '[DONE]',
  ]);
}

function geminiReply({ text, calls = [], broken }: Said, stream: boolean): Script {
  if (broken) return json({ error: { code: 500, message: 'down', status: 'INTERNAL' } }, 500);
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, arguments: args }) => ({ functionCall: { name, args: JSON.parse(args) }, thoughtSignature: 'c2lnbmVk' })),
  ];
  const reply = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'gemini',
  };
  return stream ? sse([reply]) : json(reply);
}

outbound.scriptOf = (url) => {
  if (url.startsWith('https://search.test')) return scripted.search;
  const next = scripted.said[scripted.asked++] ?? { text: 'The script is over.' };
  return scripted.isGemini ? geminiReply(next, scripted.isStream) : chatReply(next, scripted.isStream);
};

export const found = { web: { results: [{ title: 'Tea', url: 'https://tea.example/steep', description: 'Steep green tea at 80 degrees.', age: '1 day' }] } };
export const call = (input: string, name = 'web_search') => ({ name, arguments: JSON.stringify(name === 'web_search' ? { query: input } : { url: input }) });
export const answer = 'Steep it at 80 degrees ([Tea](https://tea.example/steep)).';

export const provider = {
  id: 'sp',
  name: 'brave',
  kind: 'brave' as const,
  base_url: 'https://search.test/find',
  price_per_search: 5_000,
  currency: 'USD',
  enabled: true,
  description: '',
};
export const configuration = {
  outbound,
  publicUrls: pages,
  upstreams: [
    { name: 'chat', protocol: 'alpha' as const, base_url: 'https://chat.test', api_keys: [{ key: 'sk-one' }] },
    { name: 'generate', protocol: 'gamma' as const, base_url: 'https://generate.test', api_keys: [{ key: 'sk-one' }] },
  ],
  models: [
    { name: 'chat', upstream: 'chat', upstream_model_id: 'some-model' },
    { name: 'searching', upstream: 'chat', upstream_model_id: 'gpt-4o-search-preview' },
    { name: 'generate', upstream: 'generate', upstream_model_id: 'gemini-2.5-flash' },
  ],
};
export let on: InProcessGateway;
export let off: InProcessGateway;
export async function startHosted(): Promise<void> {
  const search = { provider, config: { max_uses: 3, max_rounds: 4 } };
  on = await startInProcess({ ...configuration, search, group: { server_tools: 'on' } });
  off = await startInProcess({ ...configuration, search });
}
export async function stopHosted(): Promise<void> {
  await on?.stop();
  await off?.stop();
}
export function forgetCalls(): void {
  outbound.sent.length = 0;
  pages.sent.length = 0;
  scripted.asked = 0;
  scripted.search = json(found);
  scripted.isStream = false;
  scripted.isGemini = false;
}

export const searched = () => outbound.sent.filter(({ url }) => url.startsWith('https://search.test'));
export const upstreamBodies = () => outbound.sent.filter(({ url }) => !url.startsWith('https://search.test')).map(({ body }) => JSON.parse(body));
export const question = 'How hot should green tea be?';

let number = 0;
export async function post(gateway: InProcessGateway, path: string, body: object): Promise<Answer & { id: string }> {
  const id = `ask-${++number}`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, 'anthropic-version': '2023-06-01', 'z-request-id': id };
  return { ...(await send(gateway.url, path, { headers, body: JSON.stringify(body) })), id };
}
export const webSearch = { type: 'web_search_20250305', name: 'web_search' };
export const webFetch = { type: 'web_fetch_20250910', name: 'web_fetch' };
export const messages = (more: object = {}, gateway = on) =>
  post(gateway, '/v1/messages', {
    model: scripted.isGemini ? 'generate' : 'chat',
    max_tokens: 500,
    stream: scripted.isStream,
    messages: [{ role: 'user', content: question }],
    tools: [webSearch],
    ...more,
  });
export const responses = (more: object = {}) =>
  post(on, '/v1/responses', {
    model: scripted.isGemini ? 'generate' : 'chat',
    stream: scripted.isStream,
    input: question,
    tools: [{ type: 'web_search' }],
    ...more,
  });

export const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined && data !== '[DONE]')
    .map((data) => JSON.parse(data as string));
