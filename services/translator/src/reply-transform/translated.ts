/** The translated reply transform: canonical events printed by the caller's own writer. */
import type { Usage } from '@model-gateway/contracts';
import {
  type ChatEvent,
  type ClientAdapter,
  type Conversation,
  foldEvents,
  type ReplyContext,
  type ReplyWriter,
  type ToolBridge,
} from '@model-gateway/protocols';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { PromptSizes } from '../prompt-sizes.ts';
import { type CurrentRequest, readRequest } from '../request/current.ts';
import type { RequestRecord } from '../request/record.ts';
import type { ReplyDeps } from './deps.ts';
import type { RawRecord, ReplyTransform } from './reply-transform.ts';

/** What the parts of a writer's context that are not plain facts of the request come from. */
interface ContextSources extends Pick<ReplyContext, 'mintId' | 'sealSignature'> {
  estimateInput(): number;
}

/**
 * A class for the sake of its getter: one in an object literal would give each object a hidden class of its own. Those are made in the old generation, so
 * that all that the getter reaches, the whole conversation, would stay until a full collection.
 */
class TranslatedReplyContext implements ReplyContext {
  readonly requestId: string;
  readonly model: string;
  readonly createdAt: number;
  readonly streamForm: ReplyContext['streamForm'];
  readonly mintId: ReplyContext['mintId'];
  readonly sealSignature: ReplyContext['sealSignature'];
  readonly echo: ReplyContext['echo'];
  readonly turn?: NonNullable<ReplyContext['turn']>;
  readonly #estimateInput: () => number;

  constructor({ request: { job, turn } }: CurrentRequest, echo: ReplyContext['echo'], { mintId, sealSignature, estimateInput }: ContextSources) {
    this.requestId = job.id;
    this.model = job.requestedModel;
    this.createdAt = Math.floor(job.startedAt / 1000);
    this.streamForm = job.streamForm;
    this.mintId = mintId;
    this.sealSignature = sealSignature;
    this.echo = echo;
    if (turn) this.turn = turn.reply;
    this.#estimateInput = estimateInput;
  }

  now(): number {
    return Math.floor(Date.now() / 1000);
  }

  /** Only some client protocols report it, once. */
  get inputEstimate(): number {
    return this.#estimateInput();
  }
}

export class TranslatedTransform implements ReplyTransform {
  readonly #client: ClientAdapter;
  readonly #record: RequestRecord;
  readonly #context: ReplyContext;
  readonly #bridge: ToolBridge | undefined;
  readonly #conversation: Conversation;
  readonly #bodyLength: number;
  readonly #sizes: PromptSizes;
  /** Key under which this prompt's size is estimated. */
  readonly #kind: string;
  #writer: ReplyWriter | undefined;
  #whole: unknown;

  constructor(current: CurrentRequest, { bridge, target }: UpstreamRequest, { mintId, promptSizes }: ReplyDeps) {
    const { job, client } = current.request;
    this.#client = client;
    this.#record = current.record;
    this.#bridge = bridge;
    this.#sizes = promptSizes;
    this.#bodyLength = current.body.bytes.length;
    this.#kind = `${job.clientProtocol} ${target.route.target.upstreamModelId}`;
    const { echo, conversation } = readRequest(current);
    this.#conversation = conversation;
    this.#context = new TranslatedReplyContext(current, echo, {
      mintId,
      sealSignature: target.signatures.seal,
      estimateInput: () => promptSizes.estimate(this.#kind, conversation, this.#bodyLength),
    });
  }

  record(_record: RawRecord, events: readonly ChatEvent[]): string {
    return this.#write(events);
  }

  finish(events: readonly ChatEvent[]): string {
    const text = this.#write(events);
    if (this.#writer) this.#record.lose(this.#writer.losses);
    this.#learn();
    return text;
  }

  whole(_bytes: Buffer, _json: unknown, events: readonly ChatEvent[]): string {
    for (const event of events) if (event.type === 'finish' && event.lost) this.#record.lose(event.lost);
    const message = foldEvents(this.#bridge?.restore(events) ?? events);
    if (!this.#record.meter.usage) message.usage = this.#estimate();
    this.#learn();
    const { body, losses } = this.#client.writeWhole(message, this.#context);
    this.#record.lose(losses);
    this.#whole = body;
    return JSON.stringify(body);
  }

  lastWhole(): unknown {
    return this.#whole;
  }

  #write(events: readonly ChatEvent[]): string {
    this.#writer ??= this.#client.createWriter(this.#context);
    let out = '';
    for (const event of this.#bridge?.restore(events) ?? events) {
      if (event.type === 'finish' && event.lost) this.#record.lose(event.lost);
      if (event.type === 'end') out += this.#writeEstimate(this.#writer);
      out += this.#writer.write(event);
    }
    return out;
  }

  /** Callers rely on usage: where the upstream reported none, they get the figures of the row. */
  #writeEstimate(writer: ReplyWriter): string {
    return this.#record.meter.usage ? '' : writer.write({ type: 'usage', usage: this.#estimate(), estimated: true });
  }

  #learn(): void {
    // What several calls read together says nothing of this prompt.
    if (this.#record.meter.earlierCalls.length > 0) return;
    const { tokens, source } = this.#record.settle(true);
    if (source === 'upstream') this.#sizes.learn(this.#kind, this.#conversation, this.#bodyLength, tokens);
  }

  #estimate(): Usage {
    return this.#record.settle(true).tokens;
  }
}
