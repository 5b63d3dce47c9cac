/** The answer to one question that is no conversation, written anew in the caller's protocol. */
import type { UpstreamAdapter } from '@model-gateway/protocols';
import type { CurrentRequest } from '../request/current.ts';
import { readUnary, type UnaryCodecs, unaryCodecs } from '../request/unary-codecs.ts';
import type { ReplyDeps } from './deps.ts';
import type { ReplyTransform } from './reply-transform.ts';

export class UnaryTransform implements ReplyTransform {
  readonly #current: CurrentRequest;
  readonly #codecs: UnaryCodecs;
  readonly #deps: ReplyDeps;
  contentType: string | undefined;

  constructor(current: CurrentRequest, adapter: UpstreamAdapter, deps: ReplyDeps) {
    this.#current = current;
    this.#codecs = unaryCodecs(current.request, adapter);
    this.#deps = deps;
  }

  /** No upstream is asked for a stream. */
  record(): undefined {
    return undefined;
  }

  finish(): string {
    return '';
  }

  /** Throws for a body that is no answer to the request. Counts what the upstream says of its work; else it is estimated from the request. */
  whole(_bytes: Buffer, json: unknown): string | Uint8Array {
    const { request, record, body } = this.#current;
    const { client, upstream } = this.#codecs;
    const asked = readUnary(this.#codecs, body).request;
    const { reply, usage } = upstream.readReply(json, asked);
    if (usage) record.meter.count(usage);
    const context = { model: request.job.requestedModel, usage: record.settle(true).tokens, mintId: this.#deps.mintId };
    if (request.job.streamForm === 'sse' && client.writeStream) {
      this.contentType = request.client.contentType('sse');
      return client.writeStream(reply, asked, context);
    }
    const made = client.writeBody?.(reply, asked, context);
    this.contentType = made?.contentType;
    return made ? made.body : JSON.stringify(client.writeReply(reply, asked, context));
  }
}
