/** The models that each ask goes to, by the protocol they are reached by. */
import type { ProtocolId } from '@model-gateway/contracts';

export interface MatrixTarget {
  protocol: ProtocolId;
  model: string;
  kind?: string;
}

const models: Partial<Record<ProtocolId, readonly string[]>> = {
  alpha: [
    ...['gpt-4o', 'gpt-4.1', 'gpt-5.2', 'gpt-5', 'o3', 'deepseek-chat', 'deepseek-reasoner'],
    ...[
      'deepseek-v4-pro',
      ...['kimi-k2.6', 'kimi-k2.7-code', 'kimi-k3', 'glm-5.3', 'MiniMax-M2.7', 'mistral-large-4'],
      'mistral-large-latest',
      'mistral-small-latest',
      'magistral-medium-latest',
      'qwen-plus',
      'qwen3-vl-plus',
      'grok-4',
      'grok-3',
      'anthropic/claude-sonnet-4.5',
      'gemini-3-flash-preview',
      'house-model',
    ],
  ],
  alpha_response: ['gpt-4o', 'gpt-5.2', 'o3'],
  beta: ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5', 'claude-opus-4-1', 'claude-opus-4-6', 'claude-opus-4-7'],
  gamma: ['gemini-2.0-flash', 'gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3-flash-preview', 'gemini-4-argon'],
  cloudhost_converse: [
    ...['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us.anthropic.claude-opus-4-6-v1:0', 'us.amazon.nova-pro-v1:0', 'us.amazon.nova-2-lite-v1:0'],
    ...['meta.llama3-3-70b-instruct-v1:0', 'mistral.mistral-large-2407-v1:0'],
  ],
  cloudhost_invoke: ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us.anthropic.claude-opus-4-6-v1:0', 'us.amazon.nova-pro-v1:0'],
  delta: ['qwen-plus', 'qwen3-max'],
  cloudhost_ide_streaming: ['claude-sonnet-4.5', 'claude-opus-4.6'],
};

export const targets: readonly MatrixTarget[] = [
  ...Object.entries(models).flatMap(([protocol, ids]) => ids.map((model): MatrixTarget => ({ protocol: protocol as ProtocolId, model }))),
  { protocol: 'delta', model: 'qwen3-vl-plus', kind: 'delta-multimodal' },
];
