/** The canonical conversation → a messages request, in the form that the model behind the upstream's id accepts. */
import type { Conversation } from '../../chat/conversation.ts';
import type { ReplyEmulation, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { fillPrompt } from '../../kit/empty-prompt.ts';
import { forcesCall } from '../../kit/forced-choice.ts';
import { Losses } from '../../kit/losses.ts';
import { asNumber, type JsonObject, own } from '../../kit/read.ts';
import { hideUser, onlyUser } from '../../kit/user-label.ts';
import { samplingRefusal } from '../shared/api-version.ts';
import { limitMarks, writeCache } from '../shared/cache-mark.ts';
import { type ModelFamily, modelFamily } from '../shared/model-family.ts';
import { closeSchema, holdsMap } from '../shared/schema.ts';
import { writeToolChoice, writeTools } from '../shared/tools.ts';
import { isVertex, modelInBody, vertexVersion } from '../shared/vertex.ts';
import type { WireMessage, WireTextBlock } from '../shared/wire.ts';
import { asksForThinking, planThinking, withoutDemandedThinking, writeSampling } from '../shared/write-reasoning.ts';
import { writeTurns } from './write-turns.ts';

export function writeRequest(asked: Conversation, context: WriteRequestContext): WrittenRequest {
  const losses = new Losses();
  const conversation = withoutDemandedThinking(asked, context, losses);
  const family = modelFamily(context.target);
  // The limit of a compatible server is known to its operator: `extra_config.default_max_tokens`.
  const maxTokens = conversation.sampling.maxTokens ?? asNumber(own(context.target.extraConfig, 'default_max_tokens')) ?? family.defaultMaxTokens;
  const output = writeOutput(conversation, family, losses);
  const prompt = writePrompt(conversation, output.instruction, family, context, losses);
  const relaxedToolSchemas = new Map<string, unknown>();
  const tools = output.tool ? [output.tool] : writeTools(conversation, family.structuredOutput, losses, relaxedToolSchemas);
  const toolChoice = output.tool ? { type: 'tool', name: outputTool } : writeToolChoice(conversation, tools.length > 0);
  if (!toolChoice && forcesCall(conversation.toolChoice)) losses.dropped('tool_choice', 'there are no tools');
  const thinking = planThinking(conversation, family, maxTokens, prompt.messages, losses);
  const outputConfig: JsonObject = { ...(thinking.effort !== undefined && { effort: thinking.effort }), ...(output.format && { format: output.format }) };
  limitMarks(markHolders(tools, prompt.system, prompt.messages), losses);
  const model = modelInBody(context.target, context.operation);
  const counted: JsonObject = {
    ...(model !== undefined && { model }),
    ...(prompt.system.length > 0 && { system: prompt.system }),
    messages: prompt.messages,
    ...(tools.length > 0 && { tools }),
    ...(toolChoice && { tool_choice: toolChoice }),
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
  };
  // A counter takes only what is counted; anything else there is a 400.
  if (context.operation === 'count-tokens') return { body: counted, losses: losses.list };
  const body = {
    ...(isVertex(context.target) && { anthropic_version: vertexVersion }),
    ...counted,
    max_tokens: maxTokens,
    ...writeSampling(conversation.sampling, family, thinking.active, samplingRefusal(context.target), losses),
    ...writeIdentity(conversation, context, losses),
    ...(context.stream && { stream: true }),
  };
  return { body, losses: losses.list, ...(output.emulation && { emulation: output.emulation }), ...(relaxedToolSchemas.size > 0 && { relaxedToolSchemas }) };
}

/** System text and messages. A conversation of nothing but system text is put as the user's, since one message is the least there may be. */
function writePrompt(
  conversation: Conversation,
  instruction: string | undefined,
  family: ModelFamily,
  context: WriteRequestContext,
  losses: Losses,
): { system: WireTextBlock[]; messages: WireMessage[] } {
  const written = conversation.system.map((part): WireTextBlock => ({ type: 'text', text: part.text, ...writeCache(part.cache) }));
  const system = written.filter((block) => block.text.trim() !== '');
  if (instruction !== undefined) system.push({ type: 'text', text: instruction });
  const messages = writeTurns(conversation, family, context, losses);
  if (messages.length > 0) return { system, messages };
  if (system.length === 0) return { system, messages: [{ role: 'user', content: [{ type: 'text', text: fillPrompt(losses) }] }] };
  losses.add('system', 'renamed', 'sent as the user turn, as there is no other');
  return { system: [], messages: [{ role: 'user', content: system }] };
}

/** The one tool of a request whose answer is asked for as its arguments. */
const outputTool = 'structured_output';

interface WrittenOutput {
  format?: JsonObject;
  instruction?: string;
  tool?: JsonObject;
  emulation?: ReplyEmulation;
}

/** The format: natively, as the arguments of a forced tool where nothing stands against one, else in words. */
function writeOutput(conversation: Conversation, family: ModelFamily, losses: Losses): WrittenOutput {
  const { output } = conversation;
  if (!output || output.type === 'text') return {};
  if (output.type === 'json') {
    losses.add('response_format', 'emulated', 'JSON mode is asked for in the system text');
    return { instruction: 'Answer with one valid JSON object and nothing else: no code fence, no text before or after it.', emulation: {} };
  }
  for (const name of ['name', 'description', 'strict'] as const) {
    if (output[name] === undefined) continue;
    // Neither changes what is answered: a schema is always held to here, and the name is only a label.
    if (name !== 'description') losses.add(`response_format.${name}`, 'renamed', 'a schema needs no such field here');
    else losses.dropped('response_format.description', 'a schema has no such field here');
  }
  const { schema } = output;
  if (!family.structuredOutput || holdsMap(schema)) return emulateOutput(conversation, schema, family, losses);
  const closed = closeSchema(schema);
  if (closed.changed) losses.add('response_format.schema', 'downgraded', 'objects were closed and bounds that are not enforced moved to descriptions');
  return { format: { type: 'json_schema', schema: closed.schema } };
}

/** Thinking excludes a forced tool, and the caller's own tools could no longer be called. */
function emulateOutput({ tools, reasoning }: Conversation, schema: unknown, family: ModelFamily, losses: Losses): WrittenOutput {
  const thinks = family.thinking !== 'none' && reasoning !== undefined && asksForThinking(reasoning);
  if (tools.length === 0 && !thinks && own(schema, 'type') === 'object') {
    losses.add('response_format', 'emulated', 'the answer is asked for as the arguments of a forced tool');
    const tool = { name: outputTool, description: 'Gives the answer. Call it exactly once.', input_schema: schema };
    return { tool, emulation: { tool: outputTool, schema } };
  }
  losses.add('response_format', 'emulated', 'this model is asked for the schema in the system text');
  return {
    instruction: `Answer with one JSON value that is valid against this JSON schema and with nothing else: no code fence, no text before or after it.\n${JSON.stringify(schema)}`,
    emulation: { schema },
  };
}

/** The service tiers of this wire, by all the words that callers use for them. */
const serviceTiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
]);

function writeIdentity(conversation: Conversation, { target }: WriteRequestContext, losses: Losses): JsonObject {
  const { metadata, verbosity } = conversation;
  const serviceTier = isVertex(target) ? undefined : conversation.serviceTier;
  if (serviceTier !== conversation.serviceTier) losses.add('service_tier', 'dropped', 'this host does not take it in the body');
  const user = onlyUser(conversation, losses);
  if (metadata && Object.keys(metadata).length > 0) losses.dropped('metadata', 'only the user id is taken');
  if (verbosity !== undefined) losses.dropped('verbosity', 'has no counterpart');
  if (conversation.promptCacheKey !== undefined) losses.dropped('prompt_cache_key', 'has no counterpart');
  const tier = serviceTier === undefined ? undefined : serviceTiers.get(serviceTier);
  if (serviceTier !== undefined && tier !== serviceTier) {
    losses.add('service_tier', tier === undefined ? 'dropped' : 'renamed', tier === undefined ? 'not a tier of this vendor' : 'sent under this vendor’s name');
  }
  return { ...(user !== undefined && { metadata: { user_id: hideUser(user, losses) } }), ...(tier !== undefined && { service_tier: tier }) };
}

/** Everything that may carry a cache breakpoint, in prompt order: tools, system, messages and the blocks inside results. */
function* markHolders(tools: unknown[], system: WireTextBlock[], messages: WireMessage[]): Generator<object> {
  yield* tools as object[];
  yield* system;
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === 'tool_result') yield* (own(block, 'content') as object[] | undefined) ?? [];
      yield block;
    }
  }
}
