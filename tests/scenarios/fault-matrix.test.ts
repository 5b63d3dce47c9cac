/**
 * The fault matrix: every way an upstream can fail × (single, balancer, several keys, both), whole and streamed, through the whole data plane over
 * real connections. Statuses as contract §3 says, one row with every attempt, no node and no key tried twice.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoadBalancerInput, ModelInput, UpstreamInput } from '@model-gateway/contracts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type BrokenHosts, startBrokenHosts } from '../support/broken-hosts.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

interface Fault {
  name: string;
  /** What the fake upstream is asked for, or the host that is broken. */
  model?: string;
  host?: 'refused' | 'dns' | 'tls' | 'reset';
  /** Of a single upstream. */
  status: number;
  code: string;
  retryAfter?: string;
  /** Every key of the upstream is tried: at once, or when no other node is left. */
  rotates?: 'always' | 'alone';
  /** The caller's own fault: no other node is tried. */
  callers?: true;
}
const faults: Fault[] = [
  { name: 'refused', host: 'refused', status: 502, code: 'upstream_failed' },
  { name: 'dns', host: 'dns', status: 502, code: 'upstream_failed' },
  { name: 'tls', host: 'tls', status: 502, code: 'upstream_failed' },
  { name: 'reset-0', host: 'reset', status: 502, code: 'upstream_failed' },
  { name: 'cut-0', model: 'cut@0', status: 502, code: 'upstream_broken' },
  { name: 'cut-20', model: 'cut@20', status: 502, code: 'upstream_broken' },
  { name: 'eof', model: 'eof@0', status: 502, code: 'upstream_broken' },
  { name: '401', model: 'err:401:invalid_api_key', status: 502, code: 'upstream_credential', rotates: 'always' },
  { name: '403', model: 'err:403:forbidden', status: 502, code: 'upstream_credential', rotates: 'always' },
  { name: '429-wait', model: 'err:429:rate_limit_exceeded:45', status: 429, code: 'upstream_rate_limited', retryAfter: '45', rotates: 'always' },
  { name: '429', model: 'err:429:rate_limit_exceeded', status: 429, code: 'upstream_rate_limited', rotates: 'always' },
  { name: '500', model: 'err:500:server_error', status: 502, code: 'upstream_failed', rotates: 'alone' },
  { name: '503', model: 'err:503:overloaded', status: 503, code: 'upstream_overloaded', rotates: 'alone' },
  { name: '529', model: 'err:529:overloaded', status: 503, code: 'upstream_overloaded', rotates: 'alone' },
  { name: 'hang', model: 'hang', status: 504, code: 'upstream_timeout' },
  { name: 'garbage', model: 'garbage', status: 502, code: 'upstream_bad_reply' },
  { name: 'redirect', model: 'redir', status: 502, code: 'upstream_redirect' },
  { name: '400', model: 'err:400:invalid_request_error', status: 400, code: 'upstream_rejected', callers: true },
  { name: '422', model: 'err:422:invalid_request_error', status: 422, code: 'upstream_rejected', callers: true },
];

const keys = ['key-one', 'key-two', 'key-three'];
let fake: FakeUpstream;
let hosts: BrokenHosts;
let gateway: InProcessGateway;

/** Each case has upstreams of its own: what one learns of an upstream must not show in another. */
function configure(): { upstreams: UpstreamInput[]; models: ModelInput[]; loadBalancers: LoadBalancerInput[] } {
  const upstreams: UpstreamInput[] = [];
  const models: ModelInput[] = [];
  const loadBalancers: LoadBalancerInput[] = [];
  const node = (name: string, fault: Fault | null, manyKeys: boolean): void => {
    const api_keys = (manyKeys ? keys : keys.slice(0, 1)).map((key) => ({ key }));
    // Only who never answers is given little time: any other may be slow on a busy machine.
    const timeouts = { connect_ms: 20_000, ...(fault?.model === 'hang' && { first_byte_ms: 250, idle_ms: 250 }) };
    upstreams.push({ name, protocol: 'alpha', base_url: fault?.host ? hosts[fault.host] : fake.url, api_keys, timeouts });
    models.push({ name, upstream: name, upstream_model_id: fault?.model ?? 'ok' });
  };
  for (const fault of faults) {
    for (const [shape, manyKeys] of [
      ['single', false],
      ['keys', true],
    ] as const)
      node(`${fault.name}/${shape}`, fault, manyKeys);
    for (const [shape, manyKeys] of [
      ['balancer', false],
      ['both', true],
    ] as const) {
      const name = `${fault.name}/${shape}`;
      node(`${name}-a`, fault, manyKeys);
      node(`${name}-b`, null, manyKeys);
      node(`${name}-c`, fault, manyKeys);
      const entry = (of: string) => ({ model: `${name}-${of}` });
      loadBalancers.push({ name, strategy: 'priority', entries: [entry('a'), entry('b')] });
      loadBalancers.push({ name: `${name}-dead`, strategy: 'priority', entries: [entry('a'), entry('c')] });
    }
  }
  return { upstreams, models, loadBalancers };
}

beforeAll(async () => {
  [fake, hosts] = await Promise.all([startFakeUpstream(), startBrokenHosts()]);
  gateway = await startInProcess(configure());
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([fake.close(), hosts.close()]);
});

async function ask(model: string, stream: boolean) {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'nonce-4711' }] }),
  });
  const text = await reply.text();
  return { status: reply.status, retryAfter: reply.headers.get('retry-after'), text, row: await gateway.row(reply.headers.get('x-request-id') ?? '') };
}
/** What the assistant said, of a whole reply or of a stream's deltas. */
function contentOf(text: string): string {
  const said = (json: string): string => {
    const choice = (JSON.parse(json) as { choices: { message?: { content?: string }; delta?: { content?: string } }[] }).choices[0];
    return choice?.message?.content ?? choice?.delta?.content ?? '';
  };
  if (text.startsWith('{')) return said(text);
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => said(json ?? '')).join('');
}
type Answer = Awaited<ReturnType<typeof ask>>;

/** No key of an upstream twice. */
function expectEachOnce({ row }: Answer): void {
  const tried = row.attempts.map(({ upstream, key_index }) => `${upstream} ${key_index}`);
  expect(new Set(tried).size).toBe(tried.length);
}
const triedUpstreams = ({ row }: Answer): string[] => row.attempts.map(({ upstream }) => upstream);
const times = (count: number, name: string): string[] => Array.from({ length: count }, () => name);

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('%s', (_form, stream) => {
  describe.each(faults.map((fault) => [fault.name, fault] as const))('%s', (name, fault) => {
    test.each([
      ['single', 1],
      ['keys', fault.rotates ? keys.length : 1],
    ] as const)('%s', async (shape, attempts) => {
      const answer = await ask(`${name}/${shape}`, stream);
      expect(answer.status).toBe(fault.status);
      expect(answer.retryAfter).toBe(fault.retryAfter ?? null);
      expect(answer.row).toMatchObject({ status: fault.status, error_code: fault.code });
      expect(triedUpstreams(answer)).toEqual(times(attempts, `${name}/${shape}`));
      expectEachOnce(answer);
    });

    test.each([
      ['balancer', 1],
      ['both', fault.rotates === 'always' ? keys.length : 1],
    ] as const)('%s: the next node answers', async (shape, attempts) => {
      const answer = await ask(`${name}/${shape}`, stream);
      expectEachOnce(answer);
      if (fault.callers) {
        expect([answer.status, triedUpstreams(answer)]).toEqual([fault.status, [`${name}/${shape}-a`]]);
        return;
      }
      expect(answer.status).toBe(200);
      expect(contentOf(answer.text)).toBe('nonce-4711');
      expect(answer.text).not.toContain('_gateway_warning');
      expect(answer.row).toMatchObject({ status: 200, error_code: null, model: `${name}/${shape}-b`, requested_model: `${name}/${shape}` });
      // A node that asked to be left alone is passed over by the second request.
      const first = fault.retryAfter && stream ? 0 : attempts;
      expect(triedUpstreams(answer)).toEqual([...times(first, `${name}/${shape}-a`), `${name}/${shape}-b`]);
    });

    test.each([
      ['balancer', 1, 1],
      ['both', fault.rotates === 'always' ? keys.length : 1, fault.rotates ? keys.length : 1],
    ] as const)('%s, all dead: 503', async (shape, attempts, lastAttempts) => {
      const answer = await ask(`${name}/${shape}-dead`, stream);
      expectEachOnce(answer);
      if (fault.callers) return expect(answer.status).toBe(fault.status);
      expect([answer.status, answer.row.error_code]).toEqual([503, 'no_upstream']);
      if (fault.retryAfter) {
        expect(Number(answer.retryAfter)).toBeGreaterThan(0);
        expect(Number(answer.retryAfter)).toBeLessThanOrEqual(Number(fault.retryAfter));
        return;
      }
      expect(triedUpstreams(answer)).toEqual([
        ...times(attempts, `${name}/${shape}-a`),
        ...times(lastAttempts, `${name}/${shape}-c`),
        // Keys that were left for another node.
        ...times(lastAttempts - attempts, `${name}/${shape}-a`),
      ]);
    });
  });
});
