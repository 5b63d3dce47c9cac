/** Reads gamma replies, streamed and whole, as canonical events. */
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { readPublisherModels } from '../../kit/vertex.ts';
import { readErrorValue } from '../shared/errors.ts';
import { field, listField, objectField, textField } from '../shared/fields.ts';
import { continuationWord, readFinishReason } from '../shared/stop-reasons.ts';
import { loseDetails, readTier, UsageReader } from '../shared/usage.ts';
import type { RawValue } from '../shared/wire.ts';
import { PartialArguments } from './partial-arguments.ts';
import { readProbabilities } from './token-probabilities.ts';

/** Facts about a whole candidate that are kept raw; the last version of each counts. */
const candidateFacts = ['groundingMetadata', 'urlContextMetadata', 'citationMetadata'] as const;

type Open = { index: number; type: 'text' | 'thinking' } | { index: number; type: 'call'; arguments: PartialArguments };

export class GammaReplyReader implements ReplyReader {
  #events: ChatEvent[] = [];
  #started = false;
  #done = false;
  #nextIndex = 0;
  #open: Open | undefined;
  #hasCalls = false;
  #finishWord: string | undefined;
  #blockReason: string | undefined;
  readonly #usage = new UsageReader();
  readonly #facts = new Map<string, unknown>();
  readonly #losses = new Losses();

  read(record: StreamRecord): ChatEvent[] {
    if (record.json !== undefined) this.take(record.json);
    return this.#flush();
  }

  /** Takes one chunk, or a list of chunks: an error on a stream's address may come wrapped in an array. */
  take(json: unknown): void {
    for (const chunk of asArray(json) ?? [json]) if (!this.#done) this.#chunk(chunk);
  }

  finish(): ChatEvent[] {
    if (!this.#done && (this.#finishWord !== undefined || this.#blockReason !== undefined)) this.#end();
    return this.#flush();
  }

  /** A whole body has arrived; a missing finish word is the server's slip and not a break. */
  finishWhole(): ChatEvent[] {
    if (this.#nextIndex > 0) this.#finishWord ??= 'STOP';
    return this.finish();
  }

  #flush(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #emit(event: ChatEvent): void {
    this.#events.push(event);
  }

  #chunk(chunk: unknown): void {
    if (!asObject(chunk)) return;
    if (field(chunk, 'error') !== undefined) {
      this.#done = true;
      return this.#emit({ type: 'error', error: readErrorValue(0, {}, chunk, '') });
    }
    this.#start(chunk);
    for (const candidate of listField(chunk, 'candidates')) {
      // Further candidates are for callers that speak this protocol, and pass verbatim.
      if ((asNumber(field(candidate, 'index')) ?? 0) === 0) this.#candidate(candidate);
      else this.#losses.add('reply.candidates', 'dropped', 'Further answers have no place.');
    }
    if (listField(field(chunk, 'promptFeedback'), 'safetyRatings').length > 0)
      this.#losses.add('reply.promptFeedback', 'dropped', 'How a filter rated the prompt has no place.');
    const blocked = textField(field(chunk, 'promptFeedback'), 'blockReason');
    if (blocked !== undefined && blocked !== 'BLOCK_REASON_UNSPECIFIED') this.#blockReason = blocked;
    // On each chunk, so that a stream that breaks is metered as far as it came.
    if (this.#usage.take(field(chunk, 'usageMetadata'))) this.#emit({ type: 'usage', usage: this.#usage.usage });
  }

  #start(chunk: unknown): void {
    if (this.#started) return;
    this.#started = true;
    const id = textField(chunk, 'responseId');
    const model = textField(chunk, 'modelVersion');
    const created = Date.parse(textField(chunk, 'createTime') ?? '');
    this.#emit({
      type: 'start',
      ...(id !== undefined && { id }),
      ...(model !== undefined && { model }),
      ...(Number.isFinite(created) && { createdAt: Math.floor(created / 1000) }),
    });
  }

  #candidate(candidate: unknown): void {
    for (const part of listField(field(candidate, 'content'), 'parts')) this.#part(part);
    const probabilities = readProbabilities(candidate);
    // Beside the text, which goes on: it says nothing of a block being over.
    if (probabilities) {
      const index = this.#nextIndex++;
      this.#emit({ type: 'block-start', index, block: { type: 'raw', protocol: 'alpha', value: probabilities } });
      this.#emit({ type: 'block-end', index });
    }
    for (const name of candidateFacts) {
      const value = objectField(candidate, name);
      if (value && Object.keys(value).length > 0) this.#facts.set(name, value);
    }
    if (listField(candidate, 'safetyRatings').length > 0) this.#losses.add('reply.safetyRatings', 'dropped', 'How a filter rated the answer has no place.');
    if (textField(candidate, 'finishMessage')) this.#losses.add('reply.finishMessage', 'dropped', 'Only the stop reason is reported, without its message.');
    const word = textField(candidate, 'finishReason');
    if (word === undefined || word === '' || word === 'FINISH_REASON_UNSPECIFIED') return;
    this.#finishWord = word;
    if (textField(candidate, 'continuationToken')) this.#losses.dropped('reply.continuationToken', 'Only its vendor can go on from it.');
  }

  #part(part: unknown): void {
    const signature = textField(part, 'thoughtSignature') || undefined;
    const call = objectField(part, 'functionCall');
    const text = asString(own(part, 'text'));
    if (call) this.#call(call, signature);
    else if (text !== undefined) this.#text(field(part, 'thought') === true ? 'thinking' : 'text', text, signature);
    else if (asObject(part)) this.#rawPart(part as JsonObject, signature);
  }

  /**
   * Text parts are deltas of one block, except that a part with a signature is a block of its own: it must come back on the very same part. Such a
   * text block emits its signature before its text, so that a writer can put both into one part without waiting; a thought emits it last, as usual.
   */
  #text(type: 'text' | 'thinking', text: string, signature: string | undefined): void {
    if (text === '' && signature === undefined) return;
    const alone = signature !== undefined && type === 'text';
    if (alone || this.#open?.type !== type) this.#closeBlock();
    const index = this.#open?.index ?? this.#openBlock(type);
    if (alone) this.#emit({ type: 'signature', index, signature });
    if (text !== '') this.#emit({ type: type === 'text' ? 'text-delta' : 'thinking-delta', index, text });
    if (!alone && signature !== undefined) this.#emit({ type: 'signature', index, signature });
    if (signature !== undefined) this.#closeBlock();
  }

  #openBlock(type: 'text' | 'thinking'): number {
    const index = this.#nextIndex++;
    this.#open = { index, type };
    this.#emit({ type: 'block-start', index, block: { type } });
    return index;
  }

  /** Whole in one part; or begun by `willContinue`, continued by parts without a name, and ended by one that holds nothing more. */
  #call(call: JsonObject, signature: string | undefined): void {
    const name = textField(call, 'name') ?? '';
    const continues = field(call, 'willContinue') === true;
    if (name === '' && this.#open?.type !== 'call') return;
    if (name !== '') {
      this.#closeBlock();
      const index = this.#nextIndex++;
      this.#hasCalls = true;
      this.#open = { index, type: 'call', arguments: new PartialArguments() };
      this.#emit({ type: 'block-start', index, block: { type: 'tool-call', id: textField(call, 'id') ?? '', name } });
    }
    const open = this.#open as Open & { type: 'call' };
    if (signature !== undefined) this.#emit({ type: 'signature', index: open.index, signature });
    const args = field(call, 'args');
    open.arguments.take(field(call, 'partialArgs'));
    if (args !== undefined && !continues) {
      this.#emit({ type: 'arguments-delta', index: open.index, text: argumentText(args) });
      this.#emit({ type: 'block-end', index: open.index });
      this.#open = undefined;
    } else if (!continues) this.#closeBlock();
  }

  #rawPart(part: JsonObject, signature: string | undefined): void {
    const entries = Object.entries(part).filter(([key, value]) => key !== 'thoughtSignature' && key !== 'thought_signature' && value !== null);
    if (entries.length === 0) {
      if (signature !== undefined) this.#text('text', '', signature);
      return;
    }
    this.#raw({ part: Object.fromEntries(entries) }, signature);
  }

  #raw(value: RawValue, signature?: string): void {
    this.#closeBlock();
    const index = this.#nextIndex++;
    this.#emit({ type: 'block-start', index, block: { type: 'raw', protocol: 'gamma', value } });
    if (signature !== undefined) this.#emit({ type: 'signature', index, signature });
    this.#emit({ type: 'block-end', index });
  }

  /** `cut`: the reply ended inside a call; its arguments stay unparsed text, so that no agent runs half a call. */
  #closeBlock(cut = false): void {
    const open = this.#open;
    if (!open) return;
    if (open.type === 'call') this.#emit({ type: 'arguments-delta', index: open.index, text: open.arguments.print(cut) });
    this.#emit({ type: 'block-end', index: open.index });
    this.#open = undefined;
  }

  #end(): void {
    this.#done = true;
    this.#closeBlock(this.#finishWord !== 'STOP');
    if (this.#facts.size > 0) this.#raw({ candidate: Object.fromEntries(this.#facts) });
    const servedTier = readTier(this.#usage.metadata, this.#losses);
    loseDetails(this.#usage.metadata, this.#losses);
    if (this.#finishWord === continuationWord)
      this.#losses.dropped('reply.continuation', 'The reply goes on in another call of its vendor: it ends here as one that is cut.');
    const metadata = { ...(servedTier !== undefined && { servedTier }), ...lostIn(this.#losses) };
    if (this.#finishWord !== undefined) {
      this.#emit({ type: 'finish', reason: readFinishReason(this.#finishWord, this.#hasCalls), native: this.#finishWord, ...metadata });
    } else this.#emit({ type: 'finish', reason: 'content-filter', native: this.#blockReason!, ...metadata });
    if (this.#usage.any) this.#emit({ type: 'usage', usage: this.#usage.usage });
    this.#emit({ type: 'end' });
  }
}

/** A whole reply as the same events; a break when the body is not a reply. */
export function readWhole(body: unknown): ChatEvent[] {
  const reader = new GammaReplyReader();
  reader.take(body);
  const events = reader.finishWhole();
  if (events.some(({ type }) => type === 'end' || type === 'error')) return events;
  const isReply = asArray(body) !== undefined || field(body, 'candidates') !== undefined || field(body, 'usageMetadata') !== undefined;
  return [isReply ? { type: 'error', error: { class: 'broken', message: 'The reply holds no content.' } } : unreadable('The reply holds no content.')];
}

/** `totalTokens` of a countTokens reply. */
export const readTokenCount = (body: unknown): number | null => asNumber(field(body, 'totalTokens')) ?? null;

/** Ids of a model list, without `models/`; those that cannot generate content are left out where the list says so. */
export function readModelList(body: unknown): string[] {
  const listed = listField(body, 'models').flatMap((model) => {
    const name = textField(model, 'name')?.replace(/^models\//, '');
    const methods = asArray(field(model, 'supportedGenerationMethods'));
    return name !== undefined && name !== '' && (!methods || methods.includes('generateContent')) ? [name] : [];
  });
  return [...listed, ...readPublisherModels(body)];
}
