/** The verbatim reply transform: the upstream's own bytes, with only names, ids and signatures spliced. */
import { applyEdits, type Edit, type KnownPlaces, RecordEditor, spliceParsed } from '@model-gateway/json-bytes';
import type { ChatEvent, VerbatimReply, VerbatimRules } from '@model-gateway/protocols';
import type { UpstreamTarget } from '../prepare/upstream-request.ts';
import type { RequestContext } from '../request/context.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { ReplyDeps } from './deps.ts';
import type { RawRecord, ReplyTransform } from './reply-transform.ts';

export class VerbatimTransform implements ReplyTransform {
  readonly #request: RequestContext;
  readonly #reply: VerbatimReply;
  readonly #editor = new RecordEditor();
  #index = 0;
  #edits: readonly Edit[] | null = null;
  /** Of a whole reply that was not parsed. */
  #places: KnownPlaces | undefined;
  /** Of one that was. */
  #whole: unknown;

  constructor({ request, record, body }: CurrentRequest, rules: VerbatimRules, target: UpstreamTarget, { mintId }: ReplyDeps) {
    this.#request = request;
    this.#reply = rules.createReply({
      operation: request.job.operation,
      model: request.job.requestedModel,
      mintId,
      sealSignature: target.signatures.seal,
      requestValue: (key) => body.topLevel(key),
      ...(request.turn && { turn: request.turn.reply }),
      lose: (loss) => record.lose([loss]),
    });
  }

  record(record: RawRecord): string | Uint8Array | undefined {
    const passed = this.#pass(record);
    if (passed === undefined || this.#request.job.streamForm !== 'sse') return passed;
    const name = this.#reply.missingName?.(record);
    if (name === undefined) return passed;
    // Records that are not parsed would go without one.
    this.#edits = null;
    return Buffer.concat([Buffer.from(`event: ${name}\n`), Buffer.from(passed)]);
  }

  #pass(record: RawRecord): string | Uint8Array | undefined {
    const wanted = this.#reply.record(record);
    this.#edits = null;
    if (wanted === 'drop') return undefined;
    const edits = withoutForgery(record.json, wanted);
    this.#edits = edits;
    const { client, job } = this.#request;
    const framesAnew = client.frameRecord !== undefined && (job.streamForm !== 'sse' || lineSeparators.test(record.data));
    if (edits.length === 0 && !framesAnew && job.streamForm === 'sse') return record.raw;
    const data = this.#editor.apply(record.data, record.json, edits);
    if (client.frameRecord && framesAnew) return client.frameRecord(data, this.#index++, job.streamForm);
    if (edits.length === 0) return record.raw;
    if (record.dataStart === undefined || record.dataEnd === undefined)
      return `${record.event === undefined ? '' : `event: ${record.event}\n`}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
    const raw = Buffer.from(record.raw.buffer, record.raw.byteOffset, record.raw.byteLength);
    return Buffer.concat([raw.subarray(0, record.dataStart), Buffer.from(data, 'utf8'), raw.subarray(record.dataEnd)]);
  }

  lastEdits(): readonly Edit[] | null {
    return this.#request.job.streamForm === 'sse' ? this.#edits : null;
  }

  finish(_events: readonly ChatEvent[]): string {
    const { client, job } = this.#request;
    const owed = this.#reply.finish?.() ?? '';
    return client.frameEnd && job.streamForm !== 'sse' ? owed + client.frameEnd(job.streamForm) : owed;
  }

  look(bytes: Buffer): unknown {
    const found = this.#reply.look?.(bytes);
    this.#places = found?.places;
    return found?.value;
  }

  whole(bytes: Buffer, json: unknown): Uint8Array {
    const edits = withoutForgery(json, this.#reply.whole(json));
    if (this.#places) return applyEdits(bytes, edits, this.#places);
    this.#whole = json;
    return edits.length === 0 ? bytes : (spliceParsed(bytes, json, edits) ?? applyEdits(bytes, edits));
  }

  lastWhole(): unknown {
    return this.#whole;
  }
}

/** Legal inside JSON, and yet the end of a line to some readers: a protocol that frames records itself escapes them. */
const lineSeparators = /[\u2028\u2029]/;

/** The field is ours alone: an upstream's would be taken for our word. */
const withoutForgery = (json: unknown, edits: Edit[]): Edit[] =>
  typeof json === 'object' && json !== null && Object.hasOwn(json, '_gateway_warning') ? [...edits, { path: ['_gateway_warning'], value: undefined }] : edits;
