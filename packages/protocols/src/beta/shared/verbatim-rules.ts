/** What must change in verbatim bodies between a caller and an upstream of this protocol; every other byte stays. */
import type { Edit } from '@model-gateway/json-bytes';
import type { StreamRecord, Target, VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { envelopePrefix } from '../../kit/envelope-prefix.ts';
import { familyOf } from '../../kit/family.ts';
import { pageTokenStart } from '../../kit/found-page-token.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { billingEdits, billingMark, isFirstParty } from './billing-line.ts';
import { deferredMarks, offerAllTools, searchesTools } from './deferred-tools.ts';
import { flagsFor, flagsOfCaller } from './feature-flags.ts';
import { historyEdits, mayHoldRefusedTurns } from './fit-history.ts';
import { foundPageEdits } from './found-pages.ts';
import { isOwnModel } from './model-family.ts';
import { requireUniqueToolUse } from './read-request.ts';
import { unreadEdits } from './unread-media.ts';
import { isVertex, modelInBody, vertexVersion } from './vertex.ts';
import { mayThinkOn } from './write-reasoning.ts';

type Path = Edit['path'];

/** What `verbatim`, here and where a host carries these bodies, looks for in a caller's body. */
export const bodyWords: readonly string[] = [
  'signature',
  'redacted_thinking',
  'compaction',
  'tool_use',
  'defer_loading',
  'tool_reference',
  'anthropic_beta',
  'service_tier',
  'thread',
  'url',
  'file',
  'image',
];

/** Model name, signatures opened or stripped, and our own check of the request. A large body is parsed only when it may hold something to change. */
function requestEdits(context: VerbatimRequestContext): ReturnType<VerbatimRules['requestEdits']> {
  const losses = new Losses();
  const edits: Edit[] = [{ path: ['model'], value: modelInBody(context.target, context.operation) }, ...vertexEdits(context, losses)];
  const mayHoldSignatures =
    context.signaturesRefused !== undefined ||
    ['"signature"', '"redacted_thinking"', '"compaction"'].some((word) => context.contains(word)) ||
    context.contains(envelopePrefix);
  const mayHoldCalls = context.contains('"tool_use"');
  const holdsBilling = !isFirstParty(context.target.baseUrl) && context.contains(billingMark);
  const flags = flagsOfCaller(context.clientHeaders);
  if (flags.length > 0 && flagsFor(flags, context.target).dropped) losses.dropped('anthropic-beta', 'feature flags that this upstream does not know');
  const mayDefer = !searchesTools(context.target) && deferredMarks.some((mark) => context.contains(mark));
  edits.push(...unreadEdits(context, losses));
  const mayFold = mayHoldRefusedTurns(context);
  const mayHoldFound = context.contains(pageTokenStart);
  if (!mayHoldSignatures && !mayHoldCalls && !holdsBilling && !mayDefer && !mayFold && !mayHoldFound) return { edits, losses: losses.list };
  const body = context.parse();
  const billing = holdsBilling ? billingEdits(body) : [];
  if (billing.length > 0) losses.dropped('system.billing', 'a line that changes with every call and defeats prompt caching');
  for (const edit of billing) edits.push(edit);
  const offered = mayDefer ? offerAllTools(body) : [];
  if (offered.length > 0) losses.add('tools.defer_loading', 'emulated', 'all tools were offered at once, since this upstream does not search them');
  for (const edit of offered) edits.push(edit);
  const messages = asArray(own(body, 'messages')) ?? [];
  if (mayHoldFound) edits.push(...foundPageEdits(messages, context.openPage, losses));
  if (mayHoldCalls) requireUniqueToolUse(messages);
  if (mayHoldSignatures || mayHoldCalls) edits.push(...signatureEdits(body, messages, context, losses));
  if (mayHoldCalls || mayFold) edits.push(...historyEdits(messages, context, losses));
  return { edits, losses: losses.list };
}

/** Vertex AI takes the version in the body, and no tier of service: it has its own. */
function vertexEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  if (!isVertex(context.target) || context.operation === 'count-tokens') return [];
  const edits: Edit[] = [{ path: ['anthropic_version'], value: vertexVersion, add: true }];
  if (!context.contains('"service_tier"') || own(context.parse(), 'service_tier') === undefined) return edits;
  losses.add('service_tier', 'dropped', 'this host does not take it in the body');
  return [...edits, { path: ['service_tier'], value: undefined }];
}

function signatureEdits(body: unknown, messages: readonly unknown[], context: VerbatimRequestContext, losses: Losses): Edit[] {
  const edits: Edit[] = [];
  const leftOut: unknown[] = [];
  const sent = messages.map((message, turn) => openMessage(asObject(message) ?? {}, turn, context, { edits, leftOut, losses }));
  declareLeftOut(leftOut, losses);
  const demanded = context.signaturesRefused?.about === 'thinking';
  if (demanded || ((leftOut.length > 0 || checksBudgets(context.target)) && !mayThinkOn(sent))) edits.push(...thinkingEdits(body, demanded, losses));
  return edits;
}

/** The vendor's own models that are asked with a budget; for some a budget becomes adaptive thinking before it is sent. */
function checksBudgets(target: Target): boolean {
  const family = familyOf(target);
  return isOwnModel(family) && !(family.thinking.style === 'adaptive' && family.sampling.fixed);
}

/** What the messages of one request add to. */
interface Found {
  edits: Edit[];
  /** Blocks that are not sent. */
  leftOut: unknown[];
  losses: Losses;
}

/** Adds the edits of one message and the blocks that it loses; gives the blocks that will be sent. */
function openMessage(message: JsonObject, turn: number, context: VerbatimRequestContext, found: Found): { role: unknown; content: unknown[] } {
  const { edits, leftOut, losses } = found;
  const blocks = asArray(own(message, 'content')) ?? [];
  const changes: Edit[] = [];
  const content = blocks.filter((block, place) => {
    const path = ['messages', turn, 'content', place];
    const compaction = compactionEdits(block, path, context, losses);
    for (const edit of compaction) changes.push(edit);
    const edit = openBlock(block, path, context);
    if (edit) changes.push(edit);
    if (edit?.value !== undefined || !edit) return true;
    leftOut.push(block);
    return false;
  });
  // A message may not be left without content: it goes as a whole then.
  if (changes.length > 0 && content.length === 0) edits.push({ path: ['messages', turn], value: undefined });
  else for (const edit of changes) edits.push(edit);
  return { role: own(message, 'role'), content };
}

/**
 * A signature that this attempt may send is opened in place. Without one the block is removed, as in translation: the vendor refuses it, and as text
 * the model would take it for its own words and imitate it.
 */
function openBlock(block: unknown, path: Path, context: VerbatimRequestContext): Edit | null {
  const type = own(block, 'type');
  if (type !== 'thinking' && type !== 'redacted_thinking') return null;
  const field = type === 'thinking' ? 'signature' : 'data';
  const sealed = asString(own(block, field)) ?? '';
  const signature = sealed === '' ? null : context.openSignature(sealed);
  return signature !== null ? { path: [...path, field], value: signature } : { path, value: undefined };
}

/** What a compaction carries for its own vendor alone. Its summary can be read without, and stays. */
const compactionSignatures = ['signature', 'encrypted_content'] as const;

function compactionEdits(block: unknown, path: Path, context: VerbatimRequestContext, losses: Losses): Edit[] {
  if (own(block, 'type') !== 'compaction') return [];
  const edits = compactionSignatures.flatMap((field): Edit[] => {
    const sealed = asString(own(block, field)) ?? '';
    return sealed === '' ? [] : [{ path: [...path, field], value: context.openSignature(sealed) ?? undefined }];
  });
  if (edits.some(({ value }) => value === undefined)) losses.dropped('compaction.signature', 'issued by another model, upstream or account');
  return edits;
}

/** Declares the removed blocks: their signatures, and the text that these covered. */
function declareLeftOut(blocks: readonly unknown[], losses: Losses): void {
  if (blocks.length > 0) losses.dropped('thinking.signature', 'issued by another model, upstream or account');
  if (blocks.some((block) => (asString(own(block, 'thinking')) ?? '').trim() !== ''))
    losses.dropped('thinking', 'thinking of another model, upstream or account cannot be sent back');
}

/**
 * Where the calls being answered came without thinking, or lost it, a thinking budget would be refused: this call then goes without one (and without
 * the clean-up of thinking, which asks for it). Adaptive thinking has no such rule, unless an upstream has just said so (`demanded`).
 */
function thinkingEdits(body: unknown, demanded: boolean, losses: Losses): Edit[] {
  const type = own(own(body, 'thinking'), 'type');
  if (type !== 'enabled' && !(demanded && type === 'adaptive')) return [];
  losses.dropped('thinking', 'the calls being answered came without thinking that can be replayed');
  const edits: Edit[] = [{ path: ['thinking'], value: undefined }];
  const strategies = asArray(own(own(body, 'context_management'), 'edits')) ?? [];
  const clearing = strategies.flatMap((strategy, place) => (asString(own(strategy, 'type'))?.startsWith('clear_thinking') ? [place] : []));
  if (clearing.length === 0) return edits;
  if (clearing.length === strategies.length) return [...edits, { path: ['context_management'], value: undefined }];
  return [...edits, ...clearing.map((place): Edit => ({ path: ['context_management', 'edits', place], value: undefined }))];
}

/** Official libraries of this protocol pass over events without a name, which some servers leave out: their callers would see an empty stream. */
const eventName = /^[a-z_]+$/;

/** Model names, ids of calls that the caller runs, and signatures in the upstream's reply. */
function createReply(context: VerbatimReplyContext): VerbatimReply {
  const sealed = (holder: unknown, field: string, path: Path): Edit[] => {
    const signature = asString(own(holder, field));
    return signature === undefined || signature === '' ? [] : [{ path: [...path, field], value: context.sealSignature(signature) }];
  };
  const named = (holder: unknown, path: Path): Edit[] =>
    asString(own(holder, 'model')) === undefined ? [] : [{ path: [...path, 'model'], value: context.model }];
  // A block that failed a check and was shown to the model all the same is reported too.
  const noteLeftAside = (holder: unknown): void => {
    if (asArray(own(holder, 'input_transformations'))?.some((one) => own(one, 'type') === 'thinking_dropped'))
      context.lose?.({ field: 'messages.thinking', action: 'dropped', detail: 'The upstream left earlier reasoning aside, as its reply says.' });
  };
  const given = new Map<string, string>();
  const callId = (upstream: string): string => {
    const id = context.mintId('toolu_');
    given.set(upstream, id);
    return id;
  };
  const judged = (holder: unknown, path: Path): Edit[] => {
    const results = own(holder, verdicts);
    return results === undefined || given.size === 0 ? [] : [{ path: [...path, verdicts], value: withIds(results, given) }];
  };
  const inBlock = (block: unknown, path: Path): Edit[] => {
    if (isCallersCall(block)) return [{ path: [...path, 'id'], value: callId(asString(own(block, 'id')) ?? '') }];
    if (own(block, 'type') === 'thinking') return sealed(block, 'signature', path);
    if (own(block, 'type') === 'compaction') return compactionSignatures.flatMap((field) => sealed(block, field, path));
    return own(block, 'type') === 'redacted_thinking' ? sealed(block, 'data', path) : [];
  };
  const sealedFields: ReadonlyMap<unknown, string> = new Map([
    ['signature_delta', 'signature'],
    ['compaction_delta', 'encrypted_content'],
  ]);
  const inDelta = (delta: unknown): Edit[] => {
    const field = sealedFields.get(own(delta, 'type'));
    return field === undefined ? [] : sealed(delta, field, ['delta']);
  };
  const edits: ReadonlyMap<unknown, (json: unknown) => Edit[]> = new Map([
    [
      'message_start',
      (json: unknown) => {
        noteLeftAside(own(json, 'message'));
        return named(own(json, 'message'), ['message']);
      },
    ],
    ['content_block_start', (json: unknown) => inBlock(own(json, 'content_block'), ['content_block'])],
    ['content_block_delta', (json: unknown) => inDelta(own(json, 'delta'))],
    [
      'message_delta',
      (json: unknown) => {
        noteLeftAside(json);
        return judged(own(json, 'delta'), ['delta']);
      },
    ],
  ]);
  return {
    missingName: ({ event, json }) => (event === undefined ? eventName.exec(asString(own(json, 'type')) ?? '')?.[0] : undefined),
    record: (record: StreamRecord) => edits.get(own(record.json, 'type') ?? record.event)?.(record.json) ?? [],
    whole: (body) => {
      noteLeftAside(body);
      return [
        ...named(body, []),
        ...(asArray(own(body, 'content')) ?? []).flatMap((block, place) => inBlock(block, ['content', place])),
        // After the calls that it names.
        ...judged(body, []),
      ];
    },
  };
}

/** The vendor's verdicts on calls, by the ids of these: Claude Code's auto mode runs no call whose verdict it does not find. */
const verdicts = 'safeguard_results';

/** The value with the ids of calls exchanged, as keys and as strings. */
function withIds(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => withIds(one, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [ids.get(name) ?? name, withIds(one, ids)]));
}

/**
 * A call that the caller runs and answers. Ids of other kinds (`srvtoolu_`, `mcptoolu_`) and of calls that the upstream's own code made
 * (`caller` is not direct) are referred to elsewhere and stay.
 */
function isCallersCall(block: unknown): boolean {
  if (own(block, 'type') !== 'tool_use' || asString(own(block, 'id')) === undefined) return false;
  const caller = own(own(block, 'caller'), 'type');
  return (caller === undefined || caller === 'direct') && !/^(?:srvtoolu|mcptoolu)_/.test(asString(own(block, 'id')) ?? '');
}

export const verbatim: VerbatimRules = { requestEdits, createReply };
