/** The translated reply transform: canonical events printed by the caller's own writer. */
import type { Usage } from '@model-gateway/contracts';
import { type ChatEvent, foldEvents, type ReplyContext, type ReplyWriter, type ToolBridge } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Prepared } from '../prepare.ts';
import type { PromptSizes } from '../prompt-sizes.ts';
import type { RawRecord, ReplyTransform } from './reply-transform.ts';

export class TranslatedTransform implements ReplyTransform {
  readonly #call: Call;
  readonly #context: ReplyContext;
  readonly #bridge: ToolBridge | undefined;
  readonly #sizes: PromptSizes;
  /** Key under which this prompt's size is estimated. */
  readonly #kind: string;
  #writer: ReplyWriter | undefined;

  constructor(call: Call, prepared: Prepared, context: TranslatorContext) {
    this.#call = call;
    this.#bridge = prepared.bridge;
    const { job } = call;
    this.#sizes = context.promptSizes;
    this.#kind = `${job.clientProtocol} ${prepared.route.target.upstreamModelId}`;
    const { echo, conversation } = call.readRequest();
    const sizes = this.#sizes;
    const kind = this.#kind;
    this.#context = {
      requestId: job.id,
      model: job.requestedModel,
      createdAt: Math.floor(job.startedAt / 1000),
      streamForm: job.streamForm,
      mintId: context.mintId,
      sealSignature: prepared.sealSignature,
      echo,
      // Only some client protocols report it, once.
      get inputEstimate() {
        return sizes.estimate(kind, conversation, call.body.length);
      },
    };
  }

  record(_record: RawRecord, events: readonly ChatEvent[]): string {
    return this.#write(events);
  }

  finish(events: readonly ChatEvent[]): string {
    const text = this.#write(events);
    if (this.#writer) this.#call.lose(this.#writer.losses);
    this.#learn();
    return text;
  }

  whole(_bytes: Buffer, _json: unknown, events: readonly ChatEvent[]): string {
    for (const event of events) if (event.type === 'finish' && event.lost) this.#call.lose(event.lost);
    const message = foldEvents(this.#bridge?.restore(events) ?? events);
    if (!this.#call.meter.usage) message.usage = this.#estimate();
    this.#learn();
    const { body, losses } = this.#call.client.writeWhole(message, this.#context);
    this.#call.lose(losses);
    return JSON.stringify(body);
  }

  #write(events: readonly ChatEvent[]): string {
    this.#writer ??= this.#call.client.createWriter(this.#context);
    let out = '';
    for (const event of this.#bridge?.restore(events) ?? events) {
      if (event.type === 'finish' && event.lost) this.#call.lose(event.lost);
      if (event.type === 'end') out += this.#writeEstimate(this.#writer);
      out += this.#writer.write(event);
    }
    return out;
  }

  /** Callers rely on usage: where the upstream reported none, they get the figures of the row. */
  #writeEstimate(writer: ReplyWriter): string {
    return this.#call.meter.usage ? '' : writer.write({ type: 'usage', usage: this.#estimate(), estimated: true });
  }

  #learn(): void {
    const { body } = this.#call;
    const { tokens, source } = this.#call.settle(true);
    if (source === 'upstream') this.#sizes.learn(this.#kind, this.#call.readRequest().conversation, body.length, tokens);
  }

  #estimate(): Usage {
    return this.#call.settle(true).tokens;
  }
}
