/** Contexts for this folder's tests: sealing is a visible prefix, so that tests see where it happened. */

import type { StreamForm } from '@model-gateway/contracts';
import type { ReadRequestContext, ReplyContext, VerbatimReplyContext, WriteRequestContext } from '../contract/index.ts';

/** Base64 of "sealed": seals are `c2VhbGVk` and then the signature. */
export const seal = (signature: string): string => `c2VhbGVk${signature}`;
export const open = (sealed: string): string | null => (sealed.startsWith('c2VhbGVk') ? sealed.slice(8) : null);

export const readerContext = (streamForm: StreamForm = 'whole'): ReadRequestContext => ({
  path: '/v1beta/models/x:generateContent',
  operation: 'generate',
  model: 'caller/name',
  streamForm,
  headers: {},
});

export const writeContext = (upstreamModelId = 'gemini-3-flash'): WriteRequestContext => ({
  target: { baseUrl: 'https://upstream.example', directPath: false, upstreamModelId, neutralHeaders: false, extraConfig: null },
  operation: 'generate',
  stream: false,
  openSignature: open,
  mintId: (prefix) => `${prefix}minted`,
});

export const replyContext = (streamForm: StreamForm): ReplyContext => ({
  requestId: 'req-1',
  model: 'caller/name',
  createdAt: 1_700_000_000,
  now: () => 1_700_000_002,
  streamForm,
  mintId: (prefix) => `${prefix}minted`,
  sealSignature: seal,
  inputEstimate: 3,
});

export const verbatimReplyContext = (): VerbatimReplyContext => ({
  model: 'caller/name',
  mintId: (prefix) => `${prefix}minted`,
  sealSignature: seal,
  requestValue: () => undefined,
});
