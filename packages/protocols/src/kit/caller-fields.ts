/** Losses under the names of the caller's own fields. */
import type { Loss } from '@model-gateway/contracts';
import type { Sampling } from '../chat/conversation.ts';

/** Settings as writers of requests name them in losses, whatever the caller speaks. */
export const settingNames = {
  maxTokens: 'max_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  choices: 'n',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  logitBias: 'logit_bias',
} as const satisfies Partial<Record<keyof Sampling, string>>;

/** What a protocol of callers calls the fields that writers name in losses. `messages.*` renames what stands below `messages`; fields that it does not have keep their names. */
export type CallerFields = Readonly<Record<string, string>>;

/** The losses of a written request, each at the field in which its caller said it. */
export function nameForCaller(losses: readonly Loss[], fields: CallerFields | undefined): readonly Loss[] {
  return fields === undefined || losses.length === 0 ? losses : losses.map((loss) => ({ ...loss, field: callerField(loss.field, fields) }));
}

function callerField(field: string, fields: CallerFields): string {
  if (Object.hasOwn(fields, field)) return fields[field] ?? field;
  const end = field.indexOf('.');
  const below = end < 0 ? undefined : fields[`${field.slice(0, end)}.*`];
  return below === undefined ? field : below + field.slice(end);
}
