/** What changes in verbatim bodies between a Responses caller and a Responses upstream: model names, sealed signatures, references to stored state. */
import type { Edit } from '@model-gateway/json-bytes';
import { chatFamily } from '../../alpha/index.ts';
import type { StreamRecord, VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readSignature } from '../../kit/signature-mark.ts';
import { unresolvable } from './read-items.ts';
import { unreadableCompaction } from './server-items.ts';
import { laterRun, runsAtOnce } from './turns/background-options.ts';
import { referenceOf } from './turns/items.ts';
import { turnFields } from './turns/response-object.ts';

/**
 * Texts one of which must be in a body for it to be worth parsing: stored state, sealed signatures, reasoning, and reasoning ids that only the
 * upstream resolves.
 */
const previous = '"previous_response_id"';
const reference = '"item_reference"';
const conversation = '"conversation"';
const background = '"background"';
const backgroundOptions = '"background_options"';
const id = '"id"';
const reasoningId = '"rs_';
const signature = '"encrypted_content"';
const summary = '"summary_text"';
/**
 * Metadata that Codex adds to each item for OpenAI (`codex-rs/core/src/client.rs`), also when its `openai_base_url` is a gateway's address. Other
 * upstreams refuse fields that the reference does not list.
 */
const agentMetadata = '"internal_chat_message_metadata_passthrough"';
const metadataField = agentMetadata.slice(1, -1);
const marks = [previous, reference, conversation, signature, summary, reasoningId, agentMetadata];

/** What `verbatim` looks for in a caller's body. */
export const bodyWords: readonly string[] = [previous, reference, conversation, background, backgroundOptions, signature, summary, id, agentMetadata].map(
  (text) => text.slice(1, -1),
);

function requestEdits(context: VerbatimRequestContext): { edits: Edit[]; losses: Losses['list'] } {
  const losses = new Losses();
  const edits: Edit[] = [{ path: ['model'], value: context.target.upstreamModelId, add: true }];
  // A run in the background that the gateway itself holds.
  if (context.state === 'gateway' && context.contains(background)) edits.push({ path: ['background'], value: undefined });
  if (context.state === 'gateway' && context.contains(backgroundOptions)) {
    if (laterRun(own(context.parse(), 'background_options'))) losses.add('background_options', 'dropped', runsAtOnce);
    edits.push({ path: ['background_options'], value: undefined });
  }
  if (marks.some((text) => context.contains(text))) {
    const body = context.parse();
    const unnamed = context.state === undefined;
    if (unnamed && own(body, 'conversation') !== undefined) throw invalid('conversation', 'Conversations are not stored here; send the items in input.');
    if (unnamed && own(body, 'previous_response_id') !== undefined) {
      losses.add('previous_response_id', 'dropped', 'The turn is not stored here; only the input of this request was used.');
      edits.push({ path: ['previous_response_id'], value: undefined });
    }
    editItems(asArray(own(body, 'input')) ?? [], own(body, 'store') !== false, context, edits, losses);
  }
  return { edits, losses: losses.list };
}

function editItems(items: unknown[], stored: boolean, context: VerbatimRequestContext, edits: Edit[], losses: Losses): void {
  const { signaturesRefused } = context;
  const rules: ItemRules = {
    context,
    edits,
    losses,
    stored,
    refused: signaturesRefused?.about === 'item' ? (signaturesRefused.item ?? '') : null,
    alone: signaturesRefused?.alone === true,
    readable: !chatFamily(context.target).firstParty,
  };
  // An upstream that stored an item refuses it without the reasoning it stored before it; without its id it is new to it.
  let forgetIds = rules.refused !== null;
  items.forEach((value, index) => {
    const item = asObject(value);
    const path = ['input', index];
    // No model reads it: not a loss.
    if (own(item, metadataField) !== undefined) edits.push({ path: [...path, metadataField], value: undefined });
    // Whose an item is that an upstream keeps is known to nobody here.
    const referred = referenceOf(item) ?? (own(item, 'type') === 'item_reference' ? '' : undefined);
    if (referred !== undefined) throw unresolvable(path.join('.'), referred);
    const kept = item ? editSignature(item, path, rules, !rules.readable && leadsNowhere(items, index)) : true;
    if (!kept) forgetIds = true;
    // A signature is valid with or without its item's id, unless ids are what was refused.
    if (kept && forgetIds && own(item, 'id') !== undefined && (own(item, 'encrypted_content') === undefined || rules.refused !== null))
      edits.push({ path: [...path, 'id'], value: undefined });
  });
}

interface ItemRules {
  context: VerbatimRequestContext;
  edits: Edit[];
  losses: Losses;
  /** The caller has the upstream store what it answers. */
  stored: boolean;
  /** The item that the upstream has just refused by its id; null: none. */
  refused: string | null;
  /** It was refused because what it belongs to is missing. */
  alone: boolean;
  /** The model may be one of those that read the text of earlier reasoning. */
  readable: boolean;
}

/**
 * Whether nothing that the model said or called follows this reasoning, as where an agent repeats a request after a reply that broke off: the vendor
 * refuses it ("without its required following item").
 */
function leadsNowhere(items: readonly unknown[], at: number): boolean {
  if (own(items[at], 'type') !== 'reasoning') return false;
  let next = at + 1;
  while (own(items[next], 'type') === 'reasoning') next++;
  const type = asString(own(items[next], 'type')) ?? 'message';
  return next >= items.length || (type === 'message' ? own(items[next], 'role') !== 'assistant' : type.endsWith('_output'));
}

/**
 * Opens or strips the item's signature; one that we never sealed is stripped too, since the account it belongs to is unknown. false when the item's
 * reasoning did not reach the upstream unchanged.
 */
function editSignature(item: JsonObject, path: (string | number)[], rules: ItemRules, leadsNowhere: boolean): boolean {
  const { context, edits, losses } = rules;
  const isReasoning = own(item, 'type') === 'reasoning';
  const encrypted = asString(own(item, 'encrypted_content'));
  if (isReasoning && (leadsNowhere || (rules.alone && own(item, 'id') === rules.refused))) {
    losses.add(path.join('.'), 'dropped', 'The item that this reasoning led to is not behind it.');
    edits.push({ path, value: undefined });
    return false;
  }
  if (!encrypted) {
    if (!isReasoning || isVouchedFor(item, rules)) return true;
    losses.add(path.join('.'), 'dropped', 'Reasoning without its signature cannot be replayed; ask for reasoning.encrypted_content to keep it.');
    edits.push({ path, value: undefined });
    return false;
  }
  const { owner, sealed } = readSignature(encrypted);
  const opened = owner.kind === 'thinking' ? context.openSignature(sealed) : null;
  if (opened !== null) {
    edits.push({ path: [...path, 'encrypted_content'], value: opened });
    return true;
  }
  losses.add(`${path.join('.')}.encrypted_content`, 'dropped', 'Reasoning is replayed only to the model and account that signed it.');
  if (!isReasoning || !rules.readable || !hasText(own(item, 'content'))) {
    const isCompaction = own(item, 'type') === 'compaction';
    edits.push({ path, value: isCompaction ? { type: 'message', role: 'assistant', content: unreadableCompaction } : undefined });
    return false;
  }
  edits.push({ path: [...path, 'encrypted_content'], value: undefined });
  if (own(item, 'id') !== undefined) edits.push({ path: [...path, 'id'], value: undefined });
  return false;
}

/** Ids that we gave to reasoning of other protocols' models: no upstream ever stored what is called so. */
const mintedId = /^rs_[0-9A-Za-z]{24}$/;

/**
 * Whether reasoning without a signature may go upstream: open models read its text again; otherwise its id must be one that this upstream may have
 * stored, and there must be more than the id, since the next account would not know it.
 */
function isVouchedFor(item: JsonObject, { readable, stored, refused }: ItemRules): boolean {
  const content = hasText(own(item, 'content'));
  if (content && readable) return true;
  const id = asString(own(item, 'id'));
  return stored && refused === null && id !== undefined && !mintedId.test(id) && (content || hasText(own(item, 'summary')));
}

const hasText = (parts: unknown): boolean => (asArray(parts) ?? []).some((part) => Boolean(asString(own(part, 'text'))));

class ReplyEdits implements VerbatimReply {
  readonly #context: VerbatimReplyContext;
  /** What the gateway says of the stored turn in the upstream's place. */
  readonly #turn: JsonObject;

  constructor(context: VerbatimReplyContext) {
    this.#context = context;
    this.#turn = context.turn ? turnFields(context.turn) : {};
  }

  record(record: StreamRecord): Edit[] {
    const event = asObject(record.json);
    if (!event) return [];
    const edits: Edit[] = [];
    const response = asObject(own(event, 'response'));
    if (response) this.#response(response, ['response'], edits);
    this.#item(own(event, 'item'), ['item'], edits);
    return edits;
  }

  whole(body: unknown): Edit[] {
    const edits: Edit[] = [];
    const response = asObject(body);
    if (response) this.#response(response, [], edits);
    return edits;
  }

  #response(response: JsonObject, path: (string | number)[], edits: Edit[]): void {
    if (asArray(own(response, 'input_transformations'))?.length)
      this.#context.lose?.({ field: 'input.reasoning', action: 'dropped', detail: 'The upstream left earlier reasoning aside, as its reply says.' });
    if (own(response, 'model') !== undefined) edits.push({ path: [...path, 'model'], value: this.#context.model });
    for (const [field, value] of Object.entries(this.#turn)) if (own(response, field) !== value) edits.push({ path: [...path, field], value, add: true });
    (asArray(own(response, 'output')) ?? []).forEach((item, index) => {
      this.#item(item, [...path, 'output', index], edits);
    });
  }

  #item(item: unknown, path: (string | number)[], edits: Edit[]): void {
    const encrypted = asString(own(item, 'encrypted_content'));
    if (encrypted) edits.push({ path: [...path, 'encrypted_content'], value: this.#context.sealSignature(encrypted) });
  }
}

export const verbatim: VerbatimRules = { requestEdits, createReply: (context) => new ReplyEdits(context) };
