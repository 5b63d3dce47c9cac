/** What must change in verbatim bodies between a gamma caller and a gamma upstream: signatures, model names, doubled results and split turns; every other byte stays. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { doubledResponseEdits, responseNames } from './doubled-responses.ts';
import { modelName } from './endpoint.ts';
import { geminiFamily } from './families.ts';
import { spelling, standardBase64 } from './fields.ts';
import { joinSplitTurns, type Placed } from './split-turns.ts';
import { skipSignature } from './wire.ts';

type Path = readonly (string | number)[];

const signatureNames = ['thoughtSignature', 'thought_signature'] as const;
const nestedNames = ['generateContentRequest', 'generate_content_request'] as const;

const quoted = (word: string): string => `"${word}"`;
const signatureTexts = signatureNames.map(quoted);
const callNames = ['functionCall', 'function_call'] as const;
const callTexts = callNames.map(quoted);
const nestedTexts = nestedNames.map(quoted);
const responseTexts = responseNames.map(quoted);

/** What `verbatim` looks for in a caller's body. */
export const bodyWords: readonly string[] = [...signatureNames, ...nestedNames, ...callNames, ...responseNames];

/** The elements of a list, or the lone object that stands for one, with their paths. */
function elements(holder: unknown, name: string, path: Path): Placed[] {
  const key = spelling(holder, name);
  if (key === undefined) return [];
  const found = own(holder, key);
  const at = [...path, key];
  const list = asArray(found)?.map((value, index) => ({ value: asObject(value), path: [...at, index] as Path })) ?? [{ value: asObject(found), path: at }];
  return list.filter((item): item is Placed => item.value !== undefined);
}

// ---- the request ---------------------------------------------------------------------------------------------------

function requestEdits(context: VerbatimRequestContext): { edits: Edit[]; losses: Losses['list'] } {
  if (context.operation === 'embed') return { edits: embeddingEdits(context), losses: [] };
  const losses = new Losses();
  const edits: Edit[] = nameEdits(context);
  const counts = context.operation === 'count-tokens' && nestedTexts.some((text) => context.contains(text));
  const needsCallSignature = context.signaturesRefused !== undefined || geminiFamily(context.target).needsCallSignature;
  const holds = (texts: readonly string[]): boolean => texts.some((text) => context.contains(text));
  const mayHoldDoubled = holds(responseTexts);
  if (!counts && !mayHoldDoubled && !holds(signatureTexts) && !(needsCallSignature && holds(callTexts))) return { edits, losses: losses.list };
  const body = context.parse();
  const nested = counts ? spelling(body, 'generateContentRequest') : undefined;
  const request = nested === undefined ? body : own(body, nested);
  const prefix: Path = nested === undefined ? [] : [nested];
  // The nested request repeats the caller's name for the model, which the upstream does not know.
  if (nested !== undefined && asString(own(request, 'model')) !== undefined)
    edits.push({ path: [...prefix, 'model'], value: modelName(context.target.upstreamModelId) });
  const contents = elements(request, 'contents', prefix);
  const ofParts: Edit[] = [];
  for (const content of contents) {
    const parts = elements(content.value, 'parts', content.path);
    for (const part of parts) ofParts.push(...partEdits(part.value, part.path, context, needsCallSignature, losses));
    if (needsCallSignature) ofParts.push(...unsignedCallEdits(parts, losses));
  }
  edits.push(...joinSplitTurns(contents, ofParts));
  if (mayHoldDoubled) edits.push(...doubledResponseEdits(request, prefix, losses));
  return { edits, losses: losses.list };
}

/** The path names the model; a body that names one as well, or another one, goes with the name that was authorised. */
function nameEdits({ target, value }: VerbatimRequestContext): Edit[] {
  return value === undefined || value('model') !== undefined ? [{ path: ['model'], value: modelName(target.upstreamModelId) }] : [];
}

/** Each text repeats the caller's name for the model. */
function embeddingEdits(context: VerbatimRequestContext): Edit[] {
  const body = context.parse();
  const value = modelName(context.target.upstreamModelId);
  const named = [{ value: asObject(body) ?? {}, path: [] as Path }, ...elements(body, 'requests', [])].filter((one) => own(one.value, 'model') !== undefined);
  return named.map(({ path }) => ({ path: [...path, 'model'], value }));
}

/** A signature of ours is opened for this attempt; any other is removed, since no caller can have a raw one that fits the key we use. */
function partEdits(part: JsonObject, path: Path, context: VerbatimRequestContext, needsCallSignature: boolean, losses: Losses): Edit[] {
  const edits: Edit[] = [];
  for (const name of signatureNames) {
    const value = asString(own(part, name));
    if (value === undefined || value === '' || value === skipSignature) continue;
    const opened = context.openSignature(standardBase64(value));
    if (opened !== null) {
      edits.push({ path: [...path, name], value: opened });
      continue;
    }
    losses.add('contents.parts.thoughtSignature', 'dropped', 'A signature of another model, upstream or account was left out.');
    const kept = Object.keys(part).filter((key) => key !== name);
    // A part must hold something, and on families that check signatures a call must hold the value that skips the check.
    if (kept.length === 0) edits.push({ path, value: { text: '' } });
    else if (needsCallSignature && spelling(part, 'functionCall') !== undefined) edits.push({ path: [...path, name], value: skipSignature });
    else edits.push({ path: [...path, name], value: undefined });
  }
  return edits;
}

/** The first call of a step without any signature, such as one that another model made, gets the value that skips the check. */
function unsignedCallEdits(parts: ReturnType<typeof elements>, losses: Losses): Edit[] {
  const first = parts.find((part) => spelling(part.value, 'functionCall') !== undefined);
  if (!first || signatureNames.some((name) => asString(own(first.value, name)))) return [];
  losses.add('contents.parts.thoughtSignature', 'emulated', 'A call without a signature of its own was sent with the value that skips the check.');
  const name = signatureNames.find((spelled) => own(first.value, spelled) !== undefined) ?? 'thoughtSignature';
  return [{ path: [...first.path, name], value: skipSignature, add: true }];
}

// ---- the reply -----------------------------------------------------------------------------------------------------

function chunkEdits(chunk: unknown, prefix: Path, context: VerbatimReplyContext): Edit[] {
  const edits: Edit[] = [];
  const model = asString(own(chunk, 'modelVersion'));
  if (model !== undefined && model !== context.model) edits.push({ path: [...prefix, 'modelVersion'], value: context.model });
  for (const candidate of elements(chunk, 'candidates', prefix)) {
    for (const content of elements(candidate.value, 'content', candidate.path)) {
      for (const part of elements(content.value, 'parts', content.path)) {
        const signature = asString(own(part.value, 'thoughtSignature'));
        if (signature === undefined || signature === '' || signature === skipSignature) continue;
        edits.push({ path: [...part.path, 'thoughtSignature'], value: context.sealSignature(signature) });
      }
    }
  }
  return edits;
}

function createReply(context: VerbatimReplyContext): VerbatimReply {
  const edit = (json: unknown): Edit[] => asArray(json)?.flatMap((chunk, index) => chunkEdits(chunk, [index], context)) ?? chunkEdits(json, [], context);
  return { record: (record) => edit(record.json), whole: edit };
}

export const verbatim: VerbatimRules = { requestEdits, createReply };
