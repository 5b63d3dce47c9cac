/** The vendor's eyes: each request is judged before its script runs, and what leaves is remembered for when it comes back. */
import type { ProtocolId } from '@model-gateway/contracts';
import { accountOf, bareModel, createMemory, type Judged, judgeRequest, type KeepingMemory, type RefusedBy, renderFor } from '../vendor-rules/index.ts';
import type { Reply } from './deliver.ts';
import { decodeMessages } from './event-stream.ts';
import { alpha } from './protocols/alpha.ts';
import { alphaResponse } from './protocols/alpha-response.ts';
import { beta } from './protocols/beta.ts';
import { converse, invoke } from './protocols/cloudhost.ts';
import { ideStreaming } from './protocols/cloudhost-ide-streaming.ts';
import { delta } from './protocols/delta.ts';
import type { FakeProtocol } from './protocols/fake-protocol.ts';
import { gamma } from './protocols/gamma.ts';
import type { Asking } from './routes.ts';
import type { Script } from './script.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Legacy completions have no rows. */
const protocolIds = new Map<FakeProtocol, ProtocolId>([
  [alpha, 'alpha'],
  [alphaResponse, 'alpha_response'],
  [beta, 'beta'],
  [gamma, 'gamma'],
  [converse, 'cloudhost_converse'],
  [invoke, 'cloudhost_invoke'],
  [delta, 'delta'],
  [ideStreaming, 'cloudhost_ide_streaming'],
]);
/** Where counting takes what generating takes. */
const countsAlike = new Set<FakeProtocol>([beta, gamma, alphaResponse, converse]);

export interface Vendor {
  /** null: the vendor takes it. */
  refuse(received: UpstreamRequest, asking: Asking, script: Script): { refusal: RefusedBy; reply: Reply } | null;
  issueSignature(received: UpstreamRequest, asking: Asking, script: Script): string;
  /** The same reply; what leaves in it is the vendor's own from then on. */
  remember(received: UpstreamRequest, asking: Asking, script: Script, reply: Reply): Reply;
}

/** The text of a piece, whatever it is framed in. */
function textOf(piece: string | Buffer, isMessages: boolean): string {
  if (!isMessages || typeof piece === 'string') return piece.toString();
  return decodeMessages(piece)
    .map(({ payload }) => {
      const { bytes } = payload as { bytes?: string };
      return bytes === undefined ? JSON.stringify(payload) : Buffer.from(bytes, 'base64').toString('utf8');
    })
    .join('\n');
}

function* learning(pieces: Reply['pieces'], isMessages: boolean, learn: (text: string) => void): Reply['pieces'] {
  for (const piece of pieces) {
    learn(textOf(piece, isMessages));
    yield piece;
  }
}

/** One vendor for the whole server: accounts are told apart by their credentials. */
export function createVendor(memory: KeepingMemory = createMemory()): Vendor {
  const ofRequest = (received: UpstreamRequest, asking: Asking, script: Script) => ({
    account: accountOf(protocolIds.get(asking.protocol) ?? 'alpha', received),
    model: bareModel(script.vendorModel),
  });
  return {
    refuse(received, asking, script) {
      const protocol = protocolIds.get(asking.protocol);
      if (protocol === undefined || (asking.operation === 'count' && !countsAlike.has(asking.protocol))) return null;
      const judged: Judged = { modelId: script.vendorModel, headers: received.headers, body: received.json, path: received.path };
      const refusal = judgeRequest(protocol, judged, memory);
      if (refusal === null) return null;
      const { status, headers, body } = renderFor(protocol, judged, refusal);
      return { refusal, reply: { status, headers, pieces: [body] } };
    },
    issueSignature(received, asking, script) {
      const { account, model } = ofRequest(received, asking, script);
      return memory.issueSignature(account, model);
    },
    remember(received, asking, script, reply) {
      const isMessages = reply.headers['content-type'] === 'application/vnd.amazon.eventstream';
      const made = { ...ofRequest(received, asking, script), stored: received.json['store'] !== false };
      return { ...reply, pieces: learning(reply.pieces, isMessages, (text) => memory.learn(text, made)) };
    },
  };
}
