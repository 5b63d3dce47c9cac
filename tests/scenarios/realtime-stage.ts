/** What suites of realtime sessions share: the fake upstream, gateways with a model for each of its scripts, and callers. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { RequestRow } from '@model-gateway/contracts';
import { WebSocket } from 'ws';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

/** What a busy machine adds to the promised three seconds. */
export const busyMs = 5000;
export const recorded = [
  'audio-in-server-vad',
  'azure-tool-round',
  'azure-voice-live-tool-round',
  'azure-voice-live-vad',
  'beta-names-text-out',
  'text-in-audio-out',
  'tool-round-text-out',
  'xai-text-in-audio-out',
];
export const closes = ['1000:bye', '1001:', '1005:', '1006:', '1008:no', `1011:${'é'.repeat(61)}x`, '4001:own'];
const scripts = {
  talk: 'talk',
  echo: 'echo',
  silent: 'silent',
  flood: 'flood:400:65536',
  'bad-request': 'status:400',
  limited: 'status:429',
  unreachable: 'reset',
  'closed-first': 'closed-first:1011',
  'error-first': 'error-first:server_error',
  refusing: 'error-first:refused',
  'refusing-at-length': 'error-first:refused:open',
  leaving: 'closed-first:4003:my reason',
  'leaving-silently': 'closed-first:1005',
  'breaking-off': 'closed-first:1006',
  'noise-then-error': 'noise:10:error-first:server_error:4008',
  'noise-then-talk': 'noise:10:noise:20:talk',
  'noise-without-end': 'noise:1100000:talk',
};
const balanced = {
  balanced: ['closed-first', 'error-first', 'unreachable', 'talk'],
  'refused-by-all': ['leaving', 'refusing'],
  'left-by-all': ['refusing', 'leaving'],
  'noise-first': ['noise-then-error', 'noise-without-end', 'noise-then-talk'],
};

export let fake: FakeRealtime;
export async function startFake(): Promise<void> {
  fake = await startFakeRealtime();
}
export const stopFake = () => fake?.close();
export const forgetSessions = (): void => {
  fake.sessions.length = 0;
};

export const start = (more: Partial<Parameters<typeof startInProcess>[0]> = {}) =>
  startInProcess({
    upstreams: [
      { name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
      { name: 'two-keys', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-bad' }, { key: 'sk-good', weight: 0 }] },
      {
        name: 'one-place',
        protocol: 'alpha_realtime',
        base_url: fake.url,
        api_keys: [{ key: 'sk-good' }],
        rate_limit: { max_concurrency: 1, wait_timeout_secs: 0 },
      },
      ...['rpm', 'tpm'].map((name) => ({
        name,
        protocol: 'alpha_realtime' as const,
        base_url: fake.url,
        api_keys: [{ key: 'sk-good' }],
        // Three responses of 30 tokens fill the minute, whatever was expected of them.
        rate_limit: { [name]: name === 'rpm' ? 3 : 70, wait_timeout_secs: 0 },
      })),
      { name: 'delta', protocol: 'delta_realtime', base_url: `${fake.url}/api/v1`, api_keys: [{ key: 'sk-good' }] },
      { name: 'chat', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-good' }] },
    ],
    models: [
      ...Object.entries(scripts).map(([name, id]) => ({ name, upstream: 'up', upstream_model_id: id })),
      ...recorded.map((name) => ({ name: `case/${name}`, upstream: 'up', upstream_model_id: `fixture/${name}` })),
      ...closes.map((close) => ({ name: `close-${close.slice(0, 4)}`, upstream: 'up', upstream_model_id: `close:${close}` })),
      { name: 'second-key', upstream: 'two-keys', upstream_model_id: 'talk' },
      { name: 'one-place', upstream: 'one-place', upstream_model_id: 'talk' },
      ...['rpm', 'tpm'].map((name) => ({ name: `by-${name}`, upstream: name, upstream_model_id: 'talk' })),
      { name: 'omni', upstream: 'delta', upstream_model_id: 'talk' },
      { name: 'conversations', upstream: 'chat', upstream_model_id: 'm' },
    ],
    loadBalancers: Object.entries(balanced).map(([name, models]) => ({ name, strategy: 'priority', entries: models.map((model) => ({ model })) })),
    ...more,
  });

interface Talk {
  socket: WebSocket;
  frames: { data: Buffer; isBinary: boolean }[];
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  events(): any[];
  send(event: unknown): void;
  closed: Promise<{ code: number; reason: string }>;
}

export const dial = (gateway: InProcessGateway, model: string, options: { headers?: Record<string, string>; offered?: string[]; query?: string } = {}) =>
  new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?${options.query ?? `model=${encodeURIComponent(model)}`}`, options.offered ?? [], {
    headers: options.headers ?? { authorization: `Bearer ${gateway.key}` },
  });

export async function open(gateway: InProcessGateway, model: string, options: Parameters<typeof dial>[2] = {}): Promise<Talk> {
  const socket = dial(gateway, model, options);
  const frames: Talk['frames'] = [];
  socket.on('message', (data: Buffer, isBinary) => frames.push({ data, isBinary }));
  const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  await once(socket, 'open');
  return {
    socket,
    frames,
    events: () => frames.map(({ data }) => JSON.parse(data.toString())),
    send: (event) => socket.send(JSON.stringify(event)),
    closed,
  };
}

/** The answer to a handshake that is refused. */
export async function refusal(gateway: InProcessGateway, model: string, options: Parameters<typeof dial>[2] = {}) {
  const socket = dial(gateway, model, options);
  socket.on('error', () => socket.terminate());
  const [request, reply] = await once(socket, 'unexpected-response');
  let body = '';
  for await (const part of reply) body += part;
  request.destroy();
  return { status: reply.statusCode as number, headers: reply.headers, body };
}

/** What one session's bytes are worth in the gateway's hands, on a bus included: read from the upstream, and not yet the kernel's to send to the caller. */
export function watchHeldBytes(gateway: InProcessGateway) {
  const sides: { upstream?: Socket; caller?: Socket } = {};
  const isFake = ({ remotePort }: Socket) => remotePort === Number(new URL(fake.url).port);
  const dialled: Socket[] = [];
  const onDialled = (message: unknown) => void dialled.push((message as { socket: Socket }).socket);
  const onAccepted = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === Number(new URL(gateway.url).port)) sides.caller = socket;
  };
  subscribe('net.client.socket', onDialled);
  subscribe('net.server.socket', onAccepted);
  return {
    bytes() {
      sides.upstream ??= dialled.find(isFake);
      const { upstream, caller } = sides;
      if (!upstream || !caller) throw new Error('the connections of the session were not seen');
      return upstream.bytesRead - (caller.bytesWritten - caller.writableLength);
    },
    stop() {
      unsubscribe('net.client.socket', onDialled);
      unsubscribe('net.server.socket', onAccepted);
    },
  };
}

export const rowsOf = (gateway: InProcessGateway, kind: RequestRow['kind'], model: string) =>
  gateway.rows.filter((row) => row.kind === kind && row.requested_model === model && row.authority === 2);
