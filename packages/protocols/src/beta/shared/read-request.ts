/** A caller's messages request → the canonical conversation. Throws a 400 that names the field; never changes the body. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Conversation, OutputFormat, Reasoning, Sampling, SystemPart, Turn } from '../../chat/conversation.ts';
import type { ReadRequest, ReadRequestContext } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses, noPlace } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { withoutBillingLine } from './billing-line.ts';
import { readCache } from './cache-mark.ts';
import { type Compacted, findCompaction } from './compaction.ts';
import { openFoundPages } from './found-pages.ts';
import { readContent } from './read-content.ts';
import { foldToolChanges } from './tool-changes.ts';
import { readToolChoice, readTools } from './tools.ts';

const knownFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'metadata',
  'service_tier',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
]);

export function readRequest(body: unknown, context: ReadRequestContext): ReadRequest {
  const request = asObject(body);
  if (!request) throw invalid('', 'The request body must be a JSON object.');
  refuseStoredTurns(request);
  refuseCompaction(request);
  const losses = new Losses();
  losses.unread('', request, knownFields);
  const asked = openFoundPages(readMessages(request), context.openPage, losses);
  requireUniqueToolUse(asked);
  const { tools, messages } = foldToolChanges(own(request, 'tools'), asked, losses);
  const { system, turns } = readTurns(messages, losses);
  const conversation: Conversation = {
    system: [...dropBilling(readSystem(own(request, 'system'), 'system'), losses), ...system],
    turns,
    tools: readTools(tools, losses),
    ...readToolChoice(own(request, 'tool_choice')),
    ...readOutput(request),
    sampling: readSampling(request, context),
    ...readReasoning(request, losses),
    ...readIdentity(request),
    ...readSession(request, context),
    stream: own(request, 'stream') === true,
  };
  markLastPart(conversation, request);
  return { conversation, losses: losses.list };
}

/** Its earlier turns are held by the vendor that gave the last one: nobody else can answer, and results in it would answer calls that are not there. */
export function refuseStoredTurns(request: unknown): void {
  if (own(own(request, 'thread'), 'type') !== 'continue') return;
  const message =
    'thread: this model runs on an upstream that does not hold the turns of a message thread. Send the whole conversation in messages, without thread, or ask a model whose upstream speaks this protocol.';
  // The vendor's own words for a thread that it cannot keep: its SDKs then send the whole conversation.
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  throw new GatewayError('invalid_request', { status: 400, param: 'thread', message, details });
}

/** Asks for a summary alone, which its vendor signs: any other reply would answer another question. */
function refuseCompaction(request: JsonObject): void {
  if (!asObject(own(request, 'compaction'))) return;
  throw invalid(
    'compaction',
    'compaction: this model runs on an upstream that does not compact conversations. Ask for a summary in a message and go on with that, or ask a model whose upstream speaks this protocol.',
  );
}

function readMessages(request: JsonObject): JsonObject[] {
  const list = asArray(own(request, 'messages'));
  if (!list) throw invalid('messages', 'messages: must be a list');
  if (list.length === 0) throw invalid('messages', 'messages: at least one message is required');
  return list.map((entry, place) => {
    const message = asObject(entry);
    if (!message) throw invalid(`messages.${place}`, `messages.${place}: must be an object`);
    return message;
  });
}

/** Two calls of one id cannot be told apart by their results. The message is fixed by the specification; where they stand goes to the log alone. */
export function requireUniqueToolUse(messages: readonly unknown[]): void {
  const seen = new Map<string, string>();
  messages.forEach((message, turn) => {
    (asArray(own(message, 'content')) ?? []).forEach((block, place) => {
      const id = own(block, 'type') === 'tool_use' ? asString(own(block, 'id')) : undefined;
      if (id === undefined) return;
      const here = `messages.${turn}.content.${place}`;
      const earlier = seen.get(id);
      if (earlier !== undefined) {
        const cause = new Error(`the same tool_use id at ${earlier} and ${here}`);
        throw new GatewayError('invalid_request', { status: 400, message: 'tool_use ids must be unique', param: `${here}.id`, cause });
      }
      seen.set(id, here);
    });
  });
}

function readTurns(messages: readonly JsonObject[], losses: Losses): { system: SystemPart[]; turns: Turn[] } {
  const system: SystemPart[] = [];
  const turns: Turn[] = [];
  const compacted = findCompaction(messages);
  if (compacted) {
    losses.add('content.compaction', 'downgraded', 'the summary of what was compacted was said by the user');
    turns.push({ role: 'user', parts: [{ type: 'text', text: compacted.summary }] });
  }
  messages.forEach((message, place) => {
    const role = own(message, 'role');
    const path = `messages.${place}`;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') throw invalid(`${path}.role`, `${path}.role: must be one of user, assistant, system`);
    if (compacted && place < compacted.turn) return;
    if (role === 'system') losses.unread('messages', message, systemFields);
    const content = contentOf(message, place, compacted);
    // A system turn may hold nothing but settings.
    if (role === 'system' && content === undefined) return;
    if (role === 'system' && turns.length === 0) for (const part of readSystem(content, `${path}.content`)) system.push(part);
    else turns.push({ role, parts: readContent(content, `${path}.content`, role, losses) });
  });
  return { system, turns };
}

const systemFields: ReadonlySet<string> = new Set(['role', 'content']);

/** What a message says, of the one that holds the compaction what follows it. */
function contentOf(message: JsonObject, place: number, compacted: Compacted | null): unknown {
  const content = own(message, 'content');
  return place === compacted?.turn ? asArray(content)?.slice(compacted.place + 1) : content;
}

function readSystem(value: unknown, path: string): SystemPart[] {
  if (value === undefined || value === null) return [];
  const text = asString(value);
  if (text !== undefined) return text === '' ? [] : [{ text }];
  const list = asArray(value);
  if (!list) throw invalid(path, `${path}: must be a string or a list of text blocks`);
  return list.map((entry, place) => {
    const part = asString(own(entry, 'text'));
    if (part === undefined) throw invalid(`${path}.${place}.text`, `${path}.${place}.text: must be a string`);
    return { text: part, ...readCache(entry) };
  });
}

function dropBilling(system: SystemPart[], losses: Losses): SystemPart[] {
  const kept = system.map((part) => ({ ...part, text: withoutBillingLine(part.text) }));
  if (kept.some((part, place) => part.text !== system[place]?.text)) losses.dropped('system.billing', 'a line that changes with every call');
  return kept.filter((part, place) => part.text !== '' || system[place]?.text === '');
}

function optionalNumber(request: JsonObject, key: string): number | undefined {
  const value = own(request, key);
  if (value === undefined) return undefined;
  const number = asNumber(value);
  if (number === undefined) throw invalid(key, `${key}: must be a number`);
  return number;
}

function readSampling(request: JsonObject, context: ReadRequestContext): Sampling {
  const maxTokens = optionalNumber(request, 'max_tokens');
  if (maxTokens === undefined && context.operation === 'generate') throw invalid('max_tokens', 'max_tokens: Field required');
  // 0 asks for nothing but a warm cache.
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens >= 0)) throw invalid('max_tokens', 'max_tokens: must be a whole number, 0 or more');
  const temperature = optionalNumber(request, 'temperature');
  const topP = optionalNumber(request, 'top_p');
  const topK = optionalNumber(request, 'top_k');
  const stop = readStop(own(request, 'stop_sequences'));
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(stop !== undefined && { stop }),
  };
}

function readStop(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = asArray(value);
  if (!list?.every((entry) => typeof entry === 'string')) throw invalid('stop_sequences', 'stop_sequences: must be a list of strings');
  return list.length === 0 ? undefined : [...(list as string[])];
}

function readOutput(request: JsonObject): { output?: OutputFormat } {
  const format = own(own(request, 'output_config'), 'format') ?? own(request, 'output_format');
  if (format === undefined) return {};
  if (own(format, 'type') !== 'json_schema') throw invalid('output_config.format.type', 'output_config.format.type: must be json_schema');
  const schema = own(format, 'schema');
  if (asObject(schema) === undefined) throw invalid('output_config.format.schema', 'output_config.format.schema: must be an object');
  return { output: { type: 'schema', schema } };
}

const efforts: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
const configFields: ReadonlySet<string> = new Set(['effort', 'format']);

function readReasoning(request: JsonObject, losses: Losses): { reasoning?: Reasoning } {
  const thinking = own(request, 'thinking');
  const reasoning: Reasoning = thinking === undefined ? {} : readThinking(thinking, losses);
  const config = asObject(own(request, 'output_config')) ?? {};
  losses.unread('output_config', config, configFields);
  const effort = asString(own(config, 'effort'));
  if (effort !== undefined && efforts.has(effort)) reasoning.effort = effort as NonNullable<Reasoning['effort']>;
  else if (effort !== undefined) losses.dropped('output_config.effort', 'not a known effort');
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

/** Ways of showing thinking that other protocols have as well. */
const displays: ReadonlySet<unknown> = new Set(['summarized', 'omitted']);
const thinkingFields: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'display']);

function readThinking(thinking: unknown, losses: Losses): Reasoning {
  const type = own(thinking, 'type');
  const display = own(thinking, 'display');
  losses.unread('thinking', thinking, thinkingFields);
  if (display !== undefined && !displays.has(display)) losses.dropped('thinking.display', noPlace);
  const summary: Reasoning = display === 'summarized' ? { summary: 'auto' } : display === 'omitted' ? { summary: 'none' } : {};
  if (type === 'disabled') return { enabled: false };
  if (type === 'adaptive') return { enabled: true, adaptive: true, ...summary };
  if (type === 'between_tools') {
    losses.add('thinking.type', 'downgraded', 'when it thinks is left to the model');
    return { enabled: true, adaptive: true };
  }
  if (type !== 'enabled') throw invalid('thinking.type', 'thinking.type: must be one of enabled, adaptive, between_tools, disabled');
  const budget = asNumber(own(thinking, 'budget_tokens'));
  if (budget === undefined) throw invalid('thinking.budget_tokens', 'thinking.budget_tokens: Field required');
  return { enabled: true, budget, ...summary };
}

function readIdentity(request: JsonObject): Pick<Conversation, 'user' | 'metadata' | 'serviceTier'> {
  const metadata = Object.entries(asObject(own(request, 'metadata')) ?? {}).filter(([key]) => key !== 'user_id');
  const user = asString(own(own(request, 'metadata'), 'user_id'));
  const serviceTier = asString(own(request, 'service_tier'));
  return {
    ...(user !== undefined && { user }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

/** What stays the same over one session of an agent, so that an upstream which routes by it finds its cache again. */
function readSession(request: JsonObject, context: ReadRequestContext): Pick<Conversation, 'promptCacheKey'> {
  const user = asString(own(own(request, 'metadata'), 'user_id')) ?? '';
  const session =
    context.headers['x-claude-code-session-id'] ?? /(?:^|_)session_([0-9a-f-]{36})$|"session_id":"([0-9a-f-]{36})"/.exec(user)?.slice(1).find(Boolean);
  return session !== undefined && /^[\w.-]{1,64}$/.test(session) ? { promptCacheKey: session } : {};
}

/** A mark at the top level means "the last block that can carry one". */
function markLastPart(conversation: Conversation, request: JsonObject): void {
  const { cache } = readCache(request);
  const last = conversation.turns.at(-1)?.parts.at(-1);
  if (cache && last && last.type !== 'thinking' && last.type !== 'refusal') last.cache ??= cache;
}
