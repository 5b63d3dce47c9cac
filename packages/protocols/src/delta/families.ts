/** What must differ in a request by the upstream's model id; new models are lines here. */
export interface ModelFamily {
  /** Refuses a reply that is not streamed. */
  streamsOnly: boolean;
  /** Always reasons, and refuses to be told not to. */
  alwaysThinks: boolean;
}

const plain: ModelFamily = { streamsOnly: false, alwaysThinks: false };

const families: readonly (readonly [RegExp, ModelFamily])[] = [
  [/^(?:qwq|qvq)/, { streamsOnly: true, alwaysThinks: true }],
  [/^qwen3-.*-thinking/, { streamsOnly: false, alwaysThinks: true }],
  // The open weights of that generation reason unless told otherwise, and reason in streams alone.
  [/^qwen3-\d+(?:\.\d+)?b(?:-a\d+(?:\.\d+)?b)?$/, { streamsOnly: true, alwaysThinks: false }],
  [/^qwen\d?(?:\.\d)?-omni|^qwen3-omni/, { streamsOnly: true, alwaysThinks: false }],
];

export function findFamily(upstreamModelId: string): ModelFamily {
  const name = upstreamModelId.toLowerCase().split('/').at(-1) ?? '';
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? plain;
}
