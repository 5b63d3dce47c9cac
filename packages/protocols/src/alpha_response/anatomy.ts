/** What changes in bytes that otherwise pass untouched when both sides speak this protocol: model names, sealed proofs, references to stored state. */
import type { Edit } from '@model-gateway/json';
import { invalid } from '../kit/fail.ts';
import { Losses } from '../kit/losses.ts';
import { readProof } from '../kit/proof-mark.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../kit/read.ts';
import type { StreamRecord, VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../protocol.ts';
import { unresolvable } from './read-items.ts';
import { unreadableCompaction } from './server-items.ts';

/** Texts that a body must hold before it is worth parsing: stored state, sealed proofs, and ids of reasoning that only its upstream holds. */
const previous = '"previous_response_id"';
const reference = '"item_reference"';
const conversation = '"conversation"';
const reasoningId = '"rs_';
const proof = '"encrypted_content"';

/** What `verbatim` looks for in a caller's body. */
export const bodyWords: readonly string[] = [previous, reference, conversation, proof].map((text) => text.slice(1, -1));

function requestEdits(context: VerbatimRequestContext): { edits: Edit[]; losses: Losses['list'] } {
  const losses = new Losses();
  const edits: Edit[] = [{ path: ['model'], value: context.target.upstreamModelId, add: true }];
  if ([previous, reference, conversation, proof, reasoningId].some((text) => context.contains(text))) {
    const body = context.parse();
    if (own(body, 'conversation') !== undefined) throw invalid('conversation', 'Conversations are not stored here; send the items in input.');
    if (own(body, 'previous_response_id') !== undefined) {
      losses.add('previous_response_id', 'dropped', 'The turn is not stored here; only the input of this request was used.');
      edits.push({ path: ['previous_response_id'], value: undefined });
    }
    editItems(asArray(own(body, 'input')) ?? [], context, edits, losses);
  }
  return { edits, losses: losses.list };
}

function editItems(items: unknown[], context: VerbatimRequestContext, edits: Edit[], losses: Losses): void {
  // An upstream that stored an item refuses it without the reasoning it stored before it; without its id it is new to it.
  let forgetIds = false;
  items.forEach((value, index) => {
    const item = asObject(value);
    const path = ['input', index];
    if (own(item, 'type') === 'item_reference') throw unresolvable(path.join('.'), asString(own(item, 'id')));
    const kept = item ? editProof(item, path, context, edits, losses) : true;
    if (!kept) forgetIds = true;
    if (kept && forgetIds && own(item, 'id') !== undefined && own(item, 'encrypted_content') === undefined)
      edits.push({ path: [...path, 'id'], value: undefined });
  });
}

/**
 * Opens or strips the item's proof; one that we never sealed is stripped too, since nobody knows which account it belongs to. false when the
 * item's reasoning did not reach the upstream as it was.
 */
function editProof(item: JsonObject, path: (string | number)[], context: VerbatimRequestContext, edits: Edit[], losses: Losses): boolean {
  const encrypted = asString(own(item, 'encrypted_content'));
  const readable = hasText(own(item, 'summary')) || hasText(own(item, 'content'));
  if (!encrypted) {
    if (own(item, 'type') !== 'reasoning' || readable || !asString(own(item, 'id'))?.startsWith('rs_')) return true;
    // Nothing but the name of what one account of one upstream may hold: the next account would answer 404.
    losses.add(path.join('.'), 'dropped', 'The reasoning item names what an upstream stored; ask for reasoning.encrypted_content to carry it along.');
    edits.push({ path, value: undefined });
    return false;
  }
  const { owner, sealed } = readProof(encrypted);
  const opened = owner.kind === 'thinking' ? context.openSignature(sealed) : null;
  if (opened !== null) {
    edits.push({ path: [...path, 'encrypted_content'], value: opened });
    return true;
  }
  losses.add(`${path.join('.')}.encrypted_content`, 'dropped', 'Reasoning is replayed only to the model and account that signed it.');
  if (!readable) {
    const isCompaction = own(item, 'type') === 'compaction';
    edits.push({ path, value: isCompaction ? { type: 'message', role: 'assistant', content: unreadableCompaction } : undefined });
    return false;
  }
  edits.push({ path: [...path, 'encrypted_content'], value: undefined });
  if (own(item, 'id') !== undefined) edits.push({ path: [...path, 'id'], value: undefined });
  return false;
}

const hasText = (parts: unknown): boolean => (asArray(parts) ?? []).some((part) => Boolean(asString(own(part, 'text'))));

class ReplyEdits implements VerbatimReply {
  readonly #context: VerbatimReplyContext;

  constructor(context: VerbatimReplyContext) {
    this.#context = context;
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
    if (own(response, 'model') !== undefined) edits.push({ path: [...path, 'model'], value: this.#context.model });
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
