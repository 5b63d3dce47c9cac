import type { ProtocolId } from '@model-gateway/contracts';
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

/** Paths on which callers open realtime sessions, and the protocol that is spoken there. */
export const realtimePaths: readonly { readonly path: string; readonly protocol: Protocol }[] = [{ path: '/v1/realtime', protocol: alphaRealtime }];

const byId = new Map<ProtocolId, Protocol>(protocols.map((protocol) => [protocol.id, protocol]));

export const findProtocol = (id: ProtocolId): Protocol | undefined => byId.get(id);

export const clientProtocols = protocols.filter((protocol): protocol is Protocol & { client: ClientAdapter } => protocol.client !== undefined);
export const upstreamProtocols = protocols.filter((protocol): protocol is Protocol & { upstream: UpstreamAdapter } => protocol.upstream !== undefined);

/** Those that carry conversations. */
export const chatClients = clientProtocols.filter(({ kind }) => kind === 'chat');
export const chatUpstreams = upstreamProtocols.filter(({ kind }) => kind === 'chat');
