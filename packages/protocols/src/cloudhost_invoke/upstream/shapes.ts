/** The bodies of the models' own vendors, which this host takes and gives as they are: one table by model id. */

import type { BodyShapeName } from '@model-gateway/contracts';
import type { Target } from '../../contract/index.ts';
import { asString, own } from '../../kit/read.ts';
import type { BodyShape } from './body-shape.ts';
import { chatShape } from './chat-body.ts';
import { llamaShape, mistralShape, titanShape } from './completion-bodies.ts';
import { messagesShape } from './messages-body.ts';
import { novaShape } from './nova-body.ts';

/** By the names that `extra_config.body_shape` may say, for a profile whose ARN tells nothing of its model. */
const byName: Readonly<Record<BodyShapeName, BodyShape>> = {
  messages: messagesShape,
  nova: novaShape,
  llama: llamaShape,
  mistral: mistralShape,
  titan: titanShape,
  chat: chatShape,
};

/** The first pattern that fits. Instruct models of the first Mistral generation take a prompt, its later models a chat. */
const byModel: readonly { pattern: RegExp; shape: BodyShape }[] = [
  { pattern: /anthropic|claude/i, shape: messagesShape },
  { pattern: /amazon\.nova/i, shape: novaShape },
  { pattern: /amazon\.titan-t/i, shape: titanShape },
  { pattern: /meta\.llama/i, shape: llamaShape },
  { pattern: /mistral-7b|mixtral-8x7b|mistral-(?:small|large)-2402/i, shape: mistralShape },
  { pattern: /mistral|openai|gpt-oss|qwen|deepseek|moonshot|kimi|minimax|zai\.|glm|google\.gemma|nvidia|writer\.palmyra/i, shape: chatShape },
];

export function shapeOf(target: Target): BodyShape {
  const shape = own(byName, asString(own(target.extraConfig, 'body_shape')) ?? '') as BodyShape | undefined;
  const ids = `${target.modelId ?? ''} ${target.upstreamModelId}`;
  return shape ?? byModel.find(({ pattern }) => pattern.test(ids))?.shape ?? messagesShape;
}
