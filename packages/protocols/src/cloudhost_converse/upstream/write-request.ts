/** The canonical conversation → a Converse request, in the form that the model behind the id accepts. */

import { closeSchema, holdsMap, withoutDemandedThinking } from '../../beta/index.ts';
import type { Conversation, OutputFormat } from '../../chat/conversation.ts';
import type { ReplyEmulation, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { Losses } from '../../kit/losses.ts';
import { asObject, type JsonObject, own } from '../../kit/read.ts';
import { limitCachePoints, writeCachePoint } from './cache-points.ts';
import { type CloudFamily, cloudFamily } from './model-family.ts';
import { writeModelFields } from './model-fields.ts';
import { writeSingleCall, writeToolConfig } from './tools.ts';
import type { WireMessage, WireSystemBlock } from './wire.ts';
import { writeTurns } from './write-turns.ts';

export function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const { target } = context;
  const family = cloudFamily(target);
  const output = writeOutput(conversation.output, family, losses);
  const messages = writeTurns(conversation, { family, losses, openSignature: context.openSignature });
  const system = placeSystem(writeSystem(conversation, output.instruction, family, losses), messages, family, losses);
  const toolConfig = writeToolConfig(conversation, family, losses);
  limitCachePoints([toolConfig?.tools ?? [], system, ...messages.map(({ content }) => content)], losses);
  const fields = writeModelFields(withoutDemandedThinking(conversation, context, losses), target, family, messages, losses);
  const additional = { ...(toolConfig && writeSingleCall(conversation, family)), ...fields.additional };
  const prompt: JsonObject = {
    messages,
    ...(system.length > 0 && { system }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(additional).length > 0 && { additionalModelRequestFields: additional }),
  };
  if (context.operation === 'count-tokens') return { body: { input: { converse: prompt } }, losses: losses.list };
  const guardrail = asObject(own(target.extraConfig, 'guardrail'));
  const body: JsonObject = {
    ...prompt,
    ...(Object.keys(fields.inference).length > 0 && { inferenceConfig: fields.inference }),
    ...(output.config && { outputConfig: output.config }),
    ...(guardrail && { guardrailConfig: guardrail }),
    // The only way to learn which sequence ended the reply, where the model tells.
    ...(fields.inference.stopSequences && family.reasoning === 'messages' && { additionalModelResponseFieldPaths: ['/stop_sequence'] }),
    ...writeIdentity(conversation, losses),
  };
  return { body, losses: losses.list, ...(output.emulation && { emulation: output.emulation }) };
}

function writeSystem(conversation: Conversation, instruction: string | undefined, family: CloudFamily, losses: Losses): WireSystemBlock[] {
  const system = conversation.system.flatMap((part): WireSystemBlock[] =>
    part.text.trim() === '' ? [] : [{ text: part.text }, ...writeCachePoint(part.cache, 'system', family, losses)],
  );
  return instruction === undefined ? system : [...system, { text: instruction }];
}

/** `system` as it will be sent. Where the model takes none, or nothing else is said, its text opens the first user turn instead. */
function placeSystem(system: WireSystemBlock[], messages: WireMessage[], family: CloudFamily, losses: Losses): WireSystemBlock[] {
  if (system.length === 0 && messages.length === 0) messages.push({ role: 'user', content: [{ text: fillPrompt(losses) }] });
  if (system.length === 0 || (family.system && messages.length > 0)) return system;
  losses.add('system', 'renamed', 'sent in front of the user turn');
  const first = messages[0];
  if (first) first.content.unshift(...system);
  else messages.push({ role: 'user', content: system });
  return [];
}

/** The format, natively or in words. */
function writeOutput(
  output: OutputFormat | undefined,
  family: CloudFamily,
  losses: Losses,
): { config?: JsonObject; instruction?: string; emulation?: ReplyEmulation } {
  if (!output || output.type === 'text') return {};
  if (output.type === 'json') {
    losses.add('response_format', 'emulated', 'JSON mode is asked for in the system text');
    return { emulation: {}, instruction: 'Answer with one valid JSON object and nothing else: no code fence, no text before or after it.' };
  }
  // It changes nothing of what is answered: a schema is always held to here.
  if (output.strict !== undefined) losses.add('response_format.strict', 'renamed', 'a schema needs no such field here');
  if (!family.structuredOutput || holdsMap(output.schema)) {
    losses.add('response_format.json_schema', 'emulated', 'this model is asked for the schema in the system text');
    return {
      emulation: { schema: output.schema },
      instruction: `Answer with one JSON value that is valid against this JSON schema and with nothing else:\n${JSON.stringify(output.schema)}`,
    };
  }
  const { schema, changed } = closeSchema(output.schema);
  if (changed) losses.add('response_format.schema', 'downgraded', 'objects were closed and bounds that are not enforced moved to descriptions');
  const name = (output.name ?? '').replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64);
  const jsonSchema = { schema: JSON.stringify(schema), ...(name !== '' && { name }), ...(output.description && { description: output.description }) };
  return { config: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

/** The service tiers of this wire, by all the names that callers use for them; `auto` is its default. */
const serviceTiers: ReadonlyMap<string, string | undefined> = new Map([
  ['auto', undefined],
  ['default', 'default'],
  ['standard_only', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

function writeIdentity(conversation: Conversation, losses: Losses): JsonObject {
  const { user, safetyIdentifier, metadata, serviceTier, verbosity, promptCacheKey } = conversation;
  if (user !== undefined) losses.dropped('user', 'has no counterpart');
  if (safetyIdentifier !== undefined) losses.dropped('safety_identifier', 'has no counterpart');
  if (metadata && Object.keys(metadata).length > 0) losses.dropped('metadata', 'has no counterpart');
  if (verbosity !== undefined) losses.dropped('verbosity', 'has no counterpart');
  if (promptCacheKey !== undefined) losses.dropped('prompt_cache_key', 'has no counterpart');
  if (serviceTier === undefined) return {};
  if (!serviceTiers.has(serviceTier)) losses.dropped('service_tier', 'not a tier of this vendor');
  const type = serviceTiers.get(serviceTier);
  return type === undefined || type === 'default' ? {} : { serviceTier: { type } };
}
