/**
 * Damaged requests over HTTP to every client endpoint of a running gateway, with upstreams of every protocol behind it: each is answered, deliberately and in
 * the words of its protocol, and the gateway holds no more memory afterwards than before. `FUZZ_REQUESTS` or `FUZZ_MINUTES`: how many, or how long;
 * `FUZZ_SEED`: where they begin; `FUZZ_ARRANGEMENT=split`: over NATS and PostgreSQL.
 */
import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type ClientProtocol, type FuzzedRequest, fuzzedRequest } from '../support/fuzzed-requests.ts';
import { type Arrangement, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { residents } from '../support/gauges.ts';
import { inspected, liveHeapMib } from '../support/live-heap.ts';
import { modelOf, scriptedModels } from '../support/scripted-models.ts';
import { upstreamProtocols } from '../support/sdk-callers.ts';

const arrangement = (process.env['FUZZ_ARRANGEMENT'] ?? 'embedded') as Arrangement;
const minutes = Number(process.env['FUZZ_MINUTES'] ?? 0);
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 1500);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1);
/** Before memory is measured first: code is compiled, connections, caches and the tokenizer are there. */
const warmUp = 400;
const atOnce = 6;
/** A request that takes this long hangs: none of the scripts waits. */
const maxMs = 60_000;
/** Live heap and buffers of one process, beyond where it began. A leak of a kilobyte for each request is found by the long run. */
const keptMib = 24;
/** Resident memory follows the collector's moods and the allocator's: only what is far off is a finding. */
const residentMib = 400;

const scripts = ['ok', 'text:5', 'think', 'err:429'];
const failing = 'err:503';
const models = upstreamProtocols.flatMap((protocol) => [...scripts, failing].map((script) => modelOf(protocol, script)));

let upstream: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  // Bodies that the gateway need not translate pass as they came, and they are damaged on purpose: no vendor would take them.
  upstream = await startFakeUpstream({ strict: false });
  gateway = await startGateway({ arrangement, env: inspected });
  await gateway.configure(scriptedModels(upstream.url, () => [...scripts, failing]));
});
afterAll(async () => {
  agent.destroy();
  // Fails on a fatal line, and on a process that ended by itself.
  await gateway?.stop();
  await upstream?.close();
});

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

interface Answered {
  status: number;
  type: string;
  text: string;
}

function sendFuzzed({ method, path, headers, body }: FuzzedRequest): Promise<Answered> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, agent, headers: { ...headers, 'content-length': body.length } });
    const late = setTimeout(() => request.destroy(new Error(`no whole answer within ${maxMs} ms`)), maxMs);
    request.on('close', () => clearTimeout(late));
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text: Buffer.concat(parts).toString('utf8') }),
      );
    });
    request.end(body);
  });
}

// biome-ignore lint/suspicious/noExplicitAny: anything may be in an answer.
const shapes: Readonly<Record<ClientProtocol, (json: any) => boolean>> = {
  alpha: (json) => typeof json?.error?.message === 'string' && 'type' in json.error,
  alpha_response: (json) => typeof json?.error?.message === 'string' && 'type' in json.error,
  beta: (json) => json?.type === 'error' && typeof json.error?.type === 'string' && typeof json.error.message === 'string',
  gamma: (json) => {
    // A stream without `alt=sse` is a list.
    const { error } = (Array.isArray(json) ? json[0] : json) ?? {};
    return Number.isInteger(error?.code) && typeof error.message === 'string' && typeof error.status === 'string';
  },
};

/** What is wrong with the answer; null: nothing. */
function fault(request: FuzzedRequest, { status, text }: Answered): string | null {
  if (status === 200) return null;
  // Only the failing model's upstream answers so; damage does not make its name out of another.
  const mayFail = request.path.includes('err_503') || request.body.includes('err_503') || request.headers['content-encoding'] !== undefined;
  if (status >= 500 && !(mayFail && status === 503)) return `status ${status}`;
  if (status < 400) return `status ${status}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return `an error of status ${status} that is no JSON`;
  }
  return shapes[request.protocol](json) ? null : `an error of status ${status} in another shape`;
}

const counts: Record<string, number> = {};

async function sendSeed(seed: number): Promise<void> {
  const request = fuzzedRequest(seed, models, gateway.key);
  const answered = await sendFuzzed(request).catch((error: Error) => ({ status: 0, type: '', text: `no answer: ${error.message}` }));
  counts[answered.status] = (counts[answered.status] ?? 0) + 1;
  const found = fault(request, answered);
  if (found === null) return;
  const { method, path, headers, body, damage } = request;
  const shown = { ...headers, authorization: '…' };
  throw new Error(
    `FUZZ_SEED=${seed} (${damage.join(', ')}): ${found}\n${method} ${path}\n${JSON.stringify(shown).slice(0, 2000)}\n${body.toString('latin1').slice(0, 20_000)}\n→ ${answered.text.slice(0, 2000)}`,
  );
}

/** From `seed` on, some at once, while `goesOn`; gives the next seed. All failures of the requests under way are told. */
async function sendFrom(seed: number, goesOn: (next: number) => boolean): Promise<number> {
  let next = seed;
  const failures: Error[] = [];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (failures.length === 0 && goesOn(next)) {
        await sendSeed(next++).catch((error: Error) => failures.push(error));
        // Only the upstream's memory of what it heard would grow.
        if (upstream.requests.length > 500) upstream.requests.length = 0;
      }
    }),
  );
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join('\n\n'));
  return next;
}

const held = async (): Promise<Record<string, number>> =>
  Object.fromEntries(await Promise.all(Object.entries(gateway.processes).map(async ([name, one]) => [name, Math.round((await liveHeapMib(one)) * 10) / 10])));
const rounded = (figures: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(figures).map(([name, mib]) => [name, Math.round(mib)]));

async function noInternalRows(): Promise<void> {
  const { status, body } = await gateway.console('GET', '/logs?error_code=internal&limit=5');
  expect({ status, items: body.items }).toEqual({ status: 200, items: [] });
}

/** What a process says of itself when it was surprised; it answers all the same, with 500 or by ending the stream. */
const surprised = (): string[] =>
  Object.values(gateway.processes).flatMap((one) => one.logs().filter((line) => /"level":"(error|fatal)"|[Uu]nhandled|MaxListenersExceeded/.test(line)));

test(
  minutes > 0 ? `damaged requests for ${minutes} minutes` : `${requests} damaged requests`,
  async () => {
    const warm = await sendFrom(firstSeed, (next) => next < firstSeed + Math.min(warmUp, requests));
    const before = { live: await held(), resident: residents(gateway) };
    const deadline = Date.now() + minutes * 60_000;
    const end = await sendFrom(warm, (next) => (minutes > 0 ? Date.now() < deadline : next < firstSeed + requests));

    // Idle: rows are written, connections are let go of. Then what is left is held by somebody.
    const bound = (name: string): number => (before.live[name] ?? 0) + keptMib;
    let after = await held();
    await until(
      async () => {
        after = await held();
        return Object.entries(after).every(([name, mib]) => mib <= bound(name));
      },
      'memory to be given back',
      minutes > 0 ? 120_000 : 30_000,
    ).catch(() => undefined);
    const resident = residents(gateway);
    const figures = {
      requests: end - firstSeed,
      statuses: counts,
      live: { before: before.live, after },
      resident: { before: rounded(before.resident), after: rounded(resident) },
    };
    if (minutes > 0) process.stdout.write(`${JSON.stringify(figures)}\n`);

    await noInternalRows();
    expect(surprised()).toEqual([]);
    // Otherwise all that was tried is a refusal at the first look.
    expect(counts[200] ?? 0).toBeGreaterThan((end - firstSeed) / 10);
    for (const [name, mib] of Object.entries(after)) expect({ name, within: mib <= bound(name), figures }).toEqual({ name, within: true, figures });
    for (const [name, mib] of Object.entries(resident))
      expect({ name, within: mib <= (before.resident[name] ?? 0) + residentMib, figures }).toEqual({ name, within: true, figures });
    gateway.checkProcesses();
  },
  (minutes + 10) * 60_000,
);
