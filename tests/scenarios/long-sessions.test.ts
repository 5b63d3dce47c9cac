/**
 * Thirty turns of a coding agent's conversation through each pair of client and upstream protocol, with thinking, single and parallel calls and an
 * image, by the official SDKs; the model is switched to another vendor's twice on the way. Upstreams refuse what the real ones refuse.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { type FakeUpstream, type Play, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type AskedTool, clientProtocols, type SdkChat, startChat } from '../support/sdk-callers.ts';

const turns = 30;
/** Who is spoken to: a protocol, and the vendor's model that the upstream looks at requests with. */
const upstreams = {
  alpha: ['alpha', 'gpt-4.1'],
  alpha_response: ['alpha_response', 'gpt-5.2'],
  beta: ['beta', 'claude-sonnet-4-5'],
  gamma: ['gamma', 'gemini-3-flash-preview'],
  cloudhost_converse: ['cloudhost_converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  cloudhost_invoke: ['cloudhost_invoke', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  delta: ['delta', 'qwen3-vl-plus'],
  cloudhost_ide_streaming: ['cloudhost_ide_streaming', 'claude-sonnet-4.5'],
  deepseek: ['alpha', 'deepseek-v3.2'],
  deepseekV4: ['alpha', 'deepseek-v4-pro'],
  mistral: ['alpha', 'mistral-large-latest'],
  qwen: ['alpha', 'qwen-plus'],
  opus: ['beta', 'claude-opus-4-7'],
} as const satisfies Record<string, readonly [ProtocolId, string]>;
type Upstream = keyof typeof upstreams;
const names = Object.keys(upstreams) as Upstream[];

const tool = (name: string): AskedTool => ({
  name,
  description: `Use ${name}`,
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
});
const tools = [tool('read_file'), tool('list_folder')];
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Paths of the fake upstream begin with the protocol, so that each is an upstream of its own. */
const upstreamOf = (path: string): Upstream => path.split('/')[1] as Upstream;

let signatures = 0;
const prefixOf = (upstream: string): string => `proof of ${upstream} `;
const issueSignature = (upstream: string): string => Buffer.from(`${prefixOf(upstream)}${signatures++} ${'.'.repeat(60)}`).toString('base64');
const issuedBy = (upstream: string) => (signature: unknown) =>
  typeof signature === 'string' && Buffer.from(signature, 'base64').toString('latin1').startsWith(prefixOf(upstream));

const signaturesIn = (text: string): string[] => text.match(/cHJvb2Yg[A-Za-z0-9+/=]+/g) ?? [];
/** The others give none: their reasoning is text alone, or they have none. */
const asksForSignatures = new Set<Upstream>(['alpha_response', 'beta', 'gamma', 'cloudhost_converse', 'cloudhost_invoke', 'opus']);

/** A new user turn is thought about; every third is answered at once, the others by one or two calls. Results are summed up. */
const play: Play = (body, path) => {
  const text = JSON.stringify(body);
  // The last thing said decides: a result, or the user's own turn with its number.
  const asked = text.lastIndexOf('turn-');
  const answered = text.lastIndexOf('content-of-');
  const number = Number(/^turn-(\d+)/.exec(text.slice(asked))?.[1] ?? 0);
  const thinking = { text: `thinking of turn ${number}`, signature: issueSignature(upstreamOf(path)) };
  if (answered > asked) return { text: `all read for ${number}`, thinking };
  if (number % 3 === 0) return { text: `answer ${number}`, thinking };
  const call = { call: 'read_file', args: { path: `/file/${number}` }, thinking };
  return number % 3 === 1 ? call : { ...call, also: [{ call: 'list_folder', args: { path: `/folder/${number}` } }] };
};

let fake: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  fake = await startFakeUpstream({ play });
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure({
    upstreams: names.map((name) => ({
      name,
      protocol: upstreams[name][0],
      base_url: `${fake.url}/${name}`,
      api_keys: [{ key: name === 'cloudhost_converse' ? 'AKIAFAKEFAKEFAKEFAKE:fake/secret+access/key' : 'sk-fake' }],
    })),
    models: names.map((name) => ({ name: `long-${name}`, upstream: name, upstream_model_id: `${upstreams[name][1]}@play` })),
  });
});
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});

/** One user turn with all that follows; gives the last words. */
async function takeTurn(chat: SdkChat, model: string, stream: boolean): Promise<string> {
  for (let round = 0; round < 4; round++) {
    const { text, calls } = await chat.send({ stream, model });
    if (calls.length === 0) return text;
    chat.answer(calls.map(({ id, name, args }) => ({ id, name, output: `content-of-${(args as { path: string }).path}` })));
  }
  throw new Error('calls without end');
}

/** The upstream under test, with two vendors of other families in the middle. */
function modelAt(turn: number, upstream: Upstream): string {
  const others = names.filter((one) => one !== upstream && ['beta', 'gamma', 'alpha_response'].includes(one));
  if (turn > 10 && turn <= 15) return `long-${others[0]}`;
  return turn > 20 && turn <= 25 ? `long-${others[1]}` : `long-${upstream}`;
}

describe.each(clientProtocols)('%s client', (client) => {
  test.each(names)('thirty turns with %s', async (upstream) => {
    const from = fake.requests.length;
    const chat = startChat(client, gateway, `long-${upstream}`, {
      text: 'turn-1 begins with a picture',
      image: pixel,
      system: 'You are a careful agent.',
      tools,
      reasoning: true,
      maxTokens: 4096,
    });
    for (let turn = 1; turn <= turns; turn++) {
      if (turn > 1) chat.say(`turn-${turn} goes on`);
      const said = await takeTurn(chat, modelAt(turn, upstream), turn % 2 === 0);
      expect(said).toBe(turn % 3 === 0 ? `answer ${turn}` : `all read for ${turn}`);
    }
    const received = fake.requests.slice(from);
    // Neither at once nor after a refusal that was mended by asking again.
    const refused = received.flatMap(({ path, refusal }, at) => (refusal ? [`${at} ${upstreamOf(path)}: ${refusal.message}`] : []));
    expect(refused.slice(0, 10)).toEqual([]);
    // Signatures found their way back to who issued them.
    const returned = received.filter(({ path, body }) => upstreamOf(path) === upstream && signaturesIn(body.toString('utf8')).some(issuedBy(upstream)));
    expect({ upstream, signatures: returned.length > 0 }).toEqual({ upstream, signatures: asksForSignatures.has(upstream) });
  });
});
