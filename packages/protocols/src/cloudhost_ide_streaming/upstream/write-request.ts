import type { Conversation, OutputFormat } from '../../chat/conversation.ts';
import type { WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { pairCallIds } from '../../kit/call-ids.ts';
import { Losses } from '../../kit/losses.ts';
import { shortId } from '../../kit/short-id.ts';
import { originOf, profileOf } from './endpoint.ts';
import { assistantFamily, type ModelFamily } from './families.ts';
import { writeReasoning } from './reasoning.ts';
import { writeTools } from './tools.ts';
import { alternate } from './turns.ts';
import type { WireRequest } from './wire.ts';
import { noteCache, type Page, writeAssistant, writeUser } from './write-messages.ts';

/** The canonical request → a body of `generateAssistantResponse`. */
export function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const { target } = context;
  const model = target.upstreamModelId;
  const page: Page = {
    context,
    family: assistantFamily(target),
    origin: originOf(target),
    ids: pairCallIds(conversation, { fit: (id) => shortId(id, 'tooluse_'), mint: () => context.mintId('tooluse_') }),
    losses,
  };
  if (conversation.system.some((part) => part.cache)) noteCache(page);
  const { history, current } = alternate(conversation, outputWords(conversation.output, losses), losses);
  const message = { ...writeUser(current, page), modelId: model };
  const tools = writeTools(conversation, losses);
  if (tools.length > 0) message.userInputMessageContext = { ...message.userInputMessageContext, tools };
  const fields = { ...writeReasoning(conversation.reasoning, page.family, losses), ...writeLimit(conversation, page.family, losses) };
  noteSampling(conversation, losses);
  const profile = profileOf(target);
  const body: WireRequest = {
    conversationState: {
      conversationId: toUuid(context.mintId('')),
      history: history.map((exchange) =>
        exchange.role === 'user' ? { userInputMessage: writeUser(exchange, page) } : { assistantResponseMessage: writeAssistant(exchange, page) },
      ),
      currentMessage: { userInputMessage: message },
      chatTriggerType: 'MANUAL',
      agentTaskType: 'vibe',
    },
    ...(profile !== undefined && { profileArn: profile }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
  };
  const { output } = conversation;
  if (!output || output.type === 'text') return { body, losses: losses.list };
  return { body, losses: losses.list, emulation: output.type === 'schema' ? { schema: output.schema } : {} };
}

/** The bounds of the one field that limits a reply. */
const minLimit = 1024;

function writeLimit({ sampling }: Conversation, family: ModelFamily, losses: Losses): { max_tokens?: number } {
  if (sampling.maxTokens === undefined) return {};
  if (family.takesFields && sampling.maxTokens >= minLimit) return { max_tokens: sampling.maxTokens };
  losses.add('max_tokens', 'dropped', 'This upstream takes no such limit for this model.');
  return {};
}

/** Fields that this wire has no place for. */
function noteSampling(conversation: Conversation, losses: Losses): void {
  const { sampling, user, safetyIdentifier, metadata, verbosity, serviceTier, promptCacheKey } = conversation;
  const given: readonly (readonly [string, unknown])[] = [
    ['temperature', sampling.temperature],
    ['top_p', sampling.topP],
    ['top_k', sampling.topK],
    ['stop', sampling.stop?.length ? sampling.stop : undefined],
    ['seed', sampling.seed],
    ['presence_penalty', sampling.presencePenalty || undefined],
    ['frequency_penalty', sampling.frequencyPenalty || undefined],
    ['logprobs', sampling.logprobs || undefined],
    ['top_logprobs', sampling.topLogprobs],
    ['logit_bias', sampling.logitBias],
    ['n', (sampling.choices ?? 1) > 1 ? sampling.choices : undefined],
    ['user', user],
    ['safety_identifier', safetyIdentifier],
    ['metadata', metadata],
    ['verbosity', verbosity],
    ['service_tier', serviceTier],
    ['prompt_cache_key', promptCacheKey],
  ];
  for (const [field, value] of given) if (value !== undefined) losses.add(field, 'dropped', 'This upstream does not take the field.');
}

/** A format is asked for in words. */
function outputWords(output: OutputFormat | undefined, losses: Losses): string[] {
  if (!output || output.type === 'text') return [];
  losses.add(`response_format.json_${output.type === 'json' ? 'object' : 'schema'}`, 'emulated', 'The format was asked for in words.');
  if (output.type === 'json') return ['Answer with one JSON object and nothing else.'];
  return [`Answer with one JSON object, and nothing else, that fits this JSON schema:\n${JSON.stringify(output.schema)}`];
}

/** Conversation ids are refused unless they have this form; 128 bits of the minted id's own hash fill it. */
function toUuid(id: string): string {
  const hex = shortId(id.padEnd(65, '.'), '');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
