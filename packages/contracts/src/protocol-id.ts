/** The protocol identifiers of the specification. What is built is what `packages/protocols/src/registry.ts` lists. */
export const protocolIds = [
  'alpha',
  'alpha_response',
  'alpha_images',
  'alpha_embeddings',
  'alpha_audio',
  'alpha_rerank',
  'alpha_realtime',
  'beta',
  'gamma',
  'cloudhost_converse',
  'cloudhost_invoke',
  'cloudhost_ide_streaming',
  'delta',
  'delta_realtime',
  'passthrough',
] as const;

export type ProtocolId = (typeof protocolIds)[number];
