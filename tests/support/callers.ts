/** Callers of every client protocol against one gateway, with a ledger of what each of them sent and saw. */
import { randomUUID } from 'node:crypto';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { bytes, foldAll, readStream, speakers } from '../../packages/protocols/test/laws/harness.ts';
import type { TestGateway } from './gateway.ts';

export const clientNames = ['alpha', 'alpha_response', 'beta', 'gamma'] as const;
export type ClientName = (typeof clientNames)[number];

/** The request of each client protocol for a text; `gamma` streams as SSE. */
const requests: Record<ClientName, (model: string, content: string, stream: boolean) => { path: string; body: object }> = {
  alpha: (model, content, stream) => ({ path: '/v1/chat/completions', body: { model, stream, messages: [{ role: 'user', content }] } }),
  alpha_response: (model, input, stream) => ({ path: '/v1/responses', body: { model, stream, input } }),
  beta: (model, content, stream) => ({ path: '/v1/messages', body: { model, stream, max_tokens: 100_000, messages: [{ role: 'user', content }] } }),
  gamma: (model, text, stream) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
};

/** One request of a caller, as it saw it. */
export interface Exchange {
  readonly client: ClientName;
  /** Of the edge that it was sent to. */
  readonly edge: string;
  /** Its `z-request-id`. */
  readonly id: string;
  readonly startedAt: number;
  status: number | null;
  headers: IncomingMessage['headers'];
  /** What came so far; only as much as `keep` says when the text is not wanted. */
  text: string;
  bytes: number;
  firstByteAt: number | null;
  endedAt: number | null;
  /** `complete`: the reply ended as HTTP says; `broken`: the connection did not last; `left`: we closed it. */
  ending: 'complete' | 'broken' | 'left' | null;
  /** Resolves when it is over, however. Never rejects. */
  done: Promise<Exchange>;
  /** Monotonic times at which bytes came, when `times` was asked for. */
  arrivals: number[];
  leave(): void;
}

export interface AskOptions {
  stream?: boolean;
  content?: string;
  /** false: only counts the bytes. */
  keepText?: boolean;
  times?: boolean;
  /** Each with a connection of its own. */
  ownConnection?: boolean;
  /** Address of an edge; the first one's without it. */
  edge?: string;
  body?: string;
  /** A slow reader: takes no more than this many bytes a second, from the first one on. */
  bytesPerSecond?: number;
}

/** Of a reader that was killed, events come again after half a minute without an acknowledgement. */
const rowsMs = 60_000;

export class Callers {
  readonly ledger: Exchange[] = [];
  readonly #gateway: TestGateway;
  readonly #agent = new HttpAgent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  /** Begins a request; its outcome is in the exchange. */
  ask(
    client: ClientName,
    model: string,
    {
      stream = true,
      content = 'hello',
      keepText = true,
      times = false,
      ownConnection = false,
      edge = this.#gateway.url,
      body,
      bytesPerSecond,
    }: AskOptions = {},
  ): Exchange {
    const { path, body: asked } = requests[client](model, content, stream);
    const id = randomUUID();
    let settle: (exchange: Exchange) => void = () => {};
    let request: ClientRequest;
    let reply: IncomingMessage | undefined;
    const exchange: Exchange = {
      client,
      edge,
      id,
      startedAt: performance.now(),
      status: null,
      headers: {},
      text: '',
      bytes: 0,
      firstByteAt: null,
      endedAt: null,
      ending: null,
      arrivals: [],
      done: new Promise((resolve) => {
        settle = resolve;
      }),
      leave() {
        exchange.ending ??= 'left';
        request.destroy();
      },
    };
    const over = (ending: 'complete' | 'broken'): void => {
      if (exchange.endedAt !== null) return;
      exchange.ending ??= ending;
      exchange.endedAt = performance.now();
      settle(exchange);
    };
    request = httpRequest(
      edge + path,
      {
        method: 'POST',
        agent: ownConnection ? false : this.#agent,
        headers: { 'x-api-key': this.#gateway.key, 'content-type': 'application/json', 'z-request-id': id },
      },
      (incoming) => {
        reply = incoming;
        exchange.status = incoming.statusCode ?? null;
        exchange.headers = incoming.headers;
        incoming.on('close', () => over(incoming.complete ? 'complete' : 'broken'));
        incoming.on('error', () => over('broken'));
        if (bytesPerSecond !== undefined) return readSlowly(incoming, exchange, bytesPerSecond);
        const decoder = new TextDecoder();
        incoming.on('data', (chunk: Buffer) => {
          exchange.firstByteAt ??= performance.now();
          exchange.bytes += chunk.length;
          if (times) exchange.arrivals.push(performance.now());
          if (keepText) exchange.text += decoder.decode(chunk, { stream: true });
        });
        incoming.on('end', () => over('complete'));
      },
    );
    request.on('error', () => over('broken'));
    request.on('close', () => {
      if (!reply) over('broken');
    });
    request.end(body ?? JSON.stringify(asked));
    this.ledger.push(exchange);
    return exchange;
  }

  /** As many streams as asked, of all client protocols in turn; resolves when each has brought something. */
  async streams(count: number, models: readonly string[], options: AskOptions = {}): Promise<Exchange[]> {
    const all = Array.from({ length: count }, (_, at) =>
      this.ask(clientNames[at % clientNames.length]!, models[Math.floor(at / clientNames.length) % models.length]!, options),
    );
    await until(() => all.every((one) => one.firstByteAt !== null || one.endedAt !== null), 'every stream to begin');
    return all;
  }

  /** Asks until it works; resolves with how long that took in ms. */
  async untilServed(model: string, ms: number, edge = this.#gateway.url): Promise<number> {
    const began = performance.now();
    for (;;) {
      const one = await this.ask('beta', model, { stream: false, ownConnection: true, edge }).done;
      if (one.status === 200) return performance.now() - began;
      if (performance.now() - began > ms) throw new Error(`not served within ${ms} ms: ${one.status} ${one.ending} ${one.text}`);
      await sleep(50);
    }
  }

  /** Exactly one row for each answered request of the ledger, waited for up to `ms`; one that got no answer may never have arrived, and has at most one. */
  async checkRows(ms = rowsMs): Promise<void> {
    const wanted = this.ledger.filter((one) => one.endedAt !== null);
    const deadline = performance.now() + ms;
    for (;;) {
      const counts = new Map<string, number>();
      for (const row of await this.#gateway.rows().catch(() => [])) {
        // What ran for a request that was refused has a row beside the request's own.
        if (row.kind !== 'orphan' && row.client_request_id !== null) counts.set(row.client_request_id, (counts.get(row.client_request_id) ?? 0) + 1);
      }
      const faults = wanted
        .filter((one) => (counts.get(one.id) ?? (one.status === null ? 1 : 0)) !== 1)
        .map((one) => `${one.id} (${one.client}, ${one.status}, ${one.ending}): ${counts.get(one.id) ?? 0} rows`);
      if (faults.length === 0) return;
      if (performance.now() > deadline)
        throw new Error(`of ${wanted.length} requests ${faults.length} have not exactly one row:\n${faults.slice(0, 10).join('\n')}`);
      await sleep(250);
    }
  }

  /** The sums say what the rows say: each was counted once. Rows that are still on their way, up to `ms`, may come between the two questions. */
  async checkSums(ms = rowsMs): Promise<void> {
    const deadline = performance.now() + ms;
    for (;;) {
      const counts = new Map<string, number>();
      // An orphan (what ran for a refused request) is no request: the sums add up its money alone.
      for (const { model, kind } of await this.#gateway.rows()) if (model !== null && kind !== 'orphan') counts.set(model, (counts.get(model) ?? 0) + 1);
      const { body } = await this.#gateway.console('GET', '/stats/top?by=model&limit=1000');
      const sums = new Map<string, number>(body.items.map(({ value, requests }: { value: string; requests: number }) => [value, requests]));
      const faults = [...counts].filter(([model, count]) => sums.get(model) !== count);
      if (faults.length === 0) return;
      if (performance.now() > deadline)
        throw new Error(faults.map(([model, count]) => `${model} has ${count} rows, and ${sums.get(model) ?? 0} in the sums`).join('\n'));
      await sleep(250);
    }
  }

  close(): void {
    for (const one of this.ledger) if (one.endedAt === null) one.leave();
    this.#agent.destroy();
  }
}

/** Pulls what is allowed each second and leaves the rest where it is, so that the sender must wait. */
function readSlowly(incoming: IncomingMessage, exchange: Exchange, bytesPerSecond: number): void {
  incoming.once('readable', () => {
    exchange.firstByteAt = performance.now();
  });
  const beat = setInterval(() => {
    exchange.bytes += (incoming.read(bytesPerSecond) as Buffer | null)?.length ?? 0;
  }, 1000);
  incoming.on('close', () => clearInterval(beat));
}

/** What a caller of this protocol understood: its text, joined. */
export function textOf({ client, text }: Exchange): string {
  const speaker = speakers.find(({ id }) => id === client)!;
  return foldAll(readStream(speaker, [bytes(text)]))
    .blocks.filter((block) => block.start.type === 'text')
    .map((block) => block.text)
    .join('');
}

/** What `text:<n>` of the fake upstream says. */
export const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at} `).join('');

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `check` is true; fails with what was waited for. */
export async function until(check: () => boolean | Promise<boolean>, what: string, ms = 30_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await sleep(10);
  }
}

/** The fake upstream as four upstreams, one for each protocol, and a model on each for every scripted id: `alpha text:10`. */
export function scriptedModels(url: string, scripts: readonly string[]) {
  return {
    upstreams: clientNames.map((protocol) => ({ name: protocol, protocol, base_url: url, api_keys: [{ key: `sk-upstream-of-${protocol}` }] })),
    models: clientNames.flatMap((upstream) => scripts.map((script) => ({ name: `${upstream} ${script}`, upstream, upstream_model_id: script }))),
  };
}
/** Names of the models of one script, one on each upstream. */
export const onEach = (script: string): string[] => clientNames.map((upstream) => `${upstream} ${script}`);
