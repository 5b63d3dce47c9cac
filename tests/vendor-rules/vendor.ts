/** The vendor behind a protocol, by the model's id, and the account whose credential a request carries. */
import type { ProtocolId } from '@model-gateway/contracts';
import type { Vendor, VendorRequest } from './rule.ts';

/** Lower case, the last segment of a path, without the region and vendor in front: `us.anthropic.claude-sonnet-4-5-v1:0` → `claude-sonnet-4-5-v1:0`. */
export function bareModel(modelId: string): string {
  const last = modelId.toLowerCase().split('/').at(-1) ?? '';
  return last.replace(/^(?:(?:us|eu|apac|jp|au|ca|us-gov|global)\.)?(?:anthropic|amazon|meta|mistral|deepseek|qwen|openai|google)\./, '');
}

const chatVendors: readonly (readonly [RegExp, Vendor])[] = [
  [/^deepseek/, 'deepseek'],
  [/^(?:mistral|ministral|mixtral|magistral|codestral|devstral|pixtral|voxtral)/, 'mistral'],
  [/^(?:qwen|qwq|qvq)/, 'qwen'],
  [/^grok/, 'xai'],
  [/^(?:kimi|moonshot|k3$)/, 'moonshot'],
  [/^glm/, 'zai'],
  [/^minimax/, 'minimax'],
  [/^(?:gpt|chatgpt|o\d|codex)/, 'openai'],
];

const owners: Partial<Record<ProtocolId, Vendor>> = {
  beta: 'anthropic',
  gamma: 'google',
  cloudhost_converse: 'bedrock',
  cloudhost_invoke: 'bedrock',
  delta: 'dashscope',
  cloudhost_ide_streaming: 'kiro',
};

/** Ids that name nobody (`''`) are taken for the protocol's owner, who is the strictest. */
export function vendorOf(protocol: ProtocolId, modelId: string): Vendor {
  const model = bareModel(modelId);
  if (protocol === 'alpha' || protocol === 'alpha_response') {
    if (model === '') return 'openai';
    return chatVendors.find(([pattern]) => pattern.test(model))?.[1] ?? 'other';
  }
  // Others serve this protocol too, and are less strict.
  if (protocol === 'beta' && model !== '' && !model.startsWith('claude')) return 'other';
  return owners[protocol] ?? 'other';
}

const headerOf = (headers: VendorRequest['headers'], name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

/** The protocol and the credential: signatures of requests change with each, their key does not. */
export function accountOf(protocol: ProtocolId, { headers, path }: Pick<VendorRequest, 'headers' | 'path'>): string {
  const authorization = headerOf(headers, 'authorization');
  const signed = /Credential=([^/,\s]+)/.exec(authorization)?.[1];
  const key = ['x-api-key', 'x-goog-api-key', 'api-key'].map((name) => headerOf(headers, name)).find((value) => value !== '');
  return `${protocol} ${signed ?? key ?? (authorization || (/[?&]key=([^&]+)/.exec(path)?.[1] ?? 'nobody'))}`;
}

export { headerOf };
