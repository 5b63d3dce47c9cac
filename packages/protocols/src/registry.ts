import type { ProtocolId, RealtimeKind } from '@model-gateway/contracts';
import { alpha } from './alpha/index.ts';
import { alphaAudio } from './alpha_audio/index.ts';
import { alphaEmbeddings } from './alpha_embeddings/index.ts';
import { alphaImages } from './alpha_images/index.ts';
import { alphaRealtime } from './alpha_realtime/index.ts';
import { alphaRerank } from './alpha_rerank/index.ts';
import { alphaResponse } from './alpha_response/index.ts';
import { beta } from './beta/index.ts';
import { cloudhostConverse } from './cloudhost_converse/index.ts';
import { cloudhostIdeStreaming } from './cloudhost_ide_streaming/index.ts';
import { cloudhostInvoke } from './cloudhost_invoke/index.ts';
import type { ClientAdapter, Protocol, UpstreamAdapter } from './contract/index.ts';
import { delta } from './delta/index.ts';
import { deltaRealtime } from './delta_realtime/index.ts';
import { gamma } from './gamma/index.ts';
import { livePath, liveVersions } from './gamma/live/index.ts';
import { passthrough } from './passthrough/index.ts';

/** The only list. A protocol that is not here is not built: the console refuses it on save. */
export const protocols: readonly Protocol[] = [
  alpha,
  alphaAudio,
  alphaEmbeddings,
  alphaImages,
  alphaRealtime,
  alphaRerank,
  alphaResponse,
  beta,
  cloudhostConverse,
  cloudhostIdeStreaming,
  cloudhostInvoke,
  delta,
  deltaRealtime,
  gamma,
  passthrough,
];

/** A path on which callers open realtime sessions, and the protocol that is spoken there. */
export interface RealtimePath {
  readonly path: string;
  readonly protocol: Protocol;
  readonly kind: RealtimeKind;
  /** The API version that the path names, where it names one. */
  readonly version?: string;
  /** What the query parameter `intent` makes of it. */
  readonly intents?: Readonly<Record<string, RealtimeKind>>;
}

export const realtimePaths: readonly RealtimePath[] = [
  { path: '/v1/realtime', protocol: alphaRealtime, kind: 'realtime', intents: { transcription: 'transcription' } },
  { path: '/v1/realtime/translations', protocol: alphaRealtime, kind: 'translation' },
  { path: '/v1/live/sessions', protocol: alphaRealtime, kind: 'live' },
  ...liveVersions.map((version): RealtimePath => ({ path: livePath(version), protocol: gamma, kind: 'bidi', version })),
];

/** Where short-lived keys for sessions are asked for, by the `type` of the session; the first is meant where none is given. */
export const shortLivedKeyPaths: readonly { readonly path: string; readonly protocol: Protocol; readonly kinds: readonly RealtimeKind[] }[] = [
  { path: '/v1/realtime/client_secrets', protocol: alphaRealtime, kinds: ['realtime', 'transcription'] },
  { path: '/v1/realtime/translations/client_secrets', protocol: alphaRealtime, kinds: ['translation'] },
];

const byId = new Map<ProtocolId, Protocol>(protocols.map((protocol) => [protocol.id, protocol]));

export const findProtocol = (id: ProtocolId): Protocol | undefined => byId.get(id);

export const clientProtocols = protocols.filter((protocol): protocol is Protocol & { client: ClientAdapter } => protocol.client !== undefined);
export const upstreamProtocols = protocols.filter((protocol): protocol is Protocol & { upstream: UpstreamAdapter } => protocol.upstream !== undefined);

/** Those that carry conversations. */
export const chatClients = clientProtocols.filter(({ kind }) => kind === 'chat');
export const chatUpstreams = upstreamProtocols.filter(({ kind }) => kind === 'chat');
