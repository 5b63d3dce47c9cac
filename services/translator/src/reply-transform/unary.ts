/** The answer to one question that is no conversation, written anew in the caller's protocol. */
import type { UpstreamFault } from '@model-gateway/protocols';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';
import { partsOf, readUnary, type UnaryCodecs, unaryCodecs } from '../request/unary-codecs.ts';
import type { ReplyDeps } from './deps.ts';
import type { ReplyTransform } from './reply-transform.ts';

/** What a body was: the caller's answer, why there is none, or (`more`) the answer to a part of the question. */
export type UnaryAnswer = { body: string | Uint8Array; contentType: string | undefined } | { fault: UpstreamFault } | { more: true };

const unreachable: UpstreamFault = { class: 'server', code: 'media_unreachable', message: 'a file that the reply names by its address could not be fetched' };

export class UnaryTransform implements ReplyTransform {
  readonly #current: CurrentRequest;
  readonly #upstreamRequest: UpstreamRequest;
  readonly #codecs: UnaryCodecs;
  readonly #deps: ReplyDeps;

  constructor(current: CurrentRequest, upstreamRequest: UpstreamRequest, deps: ReplyDeps) {
    this.#current = current;
    this.#upstreamRequest = upstreamRequest;
    this.#codecs = unaryCodecs(current.request, upstreamRequest.target.adapter);
    this.#deps = deps;
  }

  /** No upstream is asked for a stream. */
  record(): undefined {
    return undefined;
  }

  finish(): string {
    return '';
  }

  /** Answers are read by `answer`, which may have to wait. */
  whole(): never {
    throw new Error('the answer to one question has a way of its own');
  }

  /**
   * Throws for a body that is no answer to the request. Counts what the upstream says of its work; else it is estimated from the request. A promise only
   * where files have to be fetched.
   */
  answer(json: unknown): UnaryAnswer | Promise<UnaryAnswer> {
    const { record, body } = this.#current;
    const { client, upstream } = this.#codecs;
    const parts = partsOf(this.#current, this.#codecs, this.#upstreamRequest.target.route.target);
    const answer = upstream.readReply(json, parts.current);
    if ('fault' in answer) {
      if (answer.usage) record.meter.count(answer.usage);
      return { fault: answer.fault };
    }
    parts.add(answer.reply, answer.usage);
    if (parts.usage) record.meter.count(parts.usage);
    if (!parts.isDone) return { more: true };
    const asked = readUnary(this.#codecs, body).request;
    const reply = parts.joined(upstream);
    const urls = client.addresses?.(reply, asked) ?? [];
    return urls.length === 0 ? this.#write(reply, asked) : this.#fetchAndWrite(urls, reply, asked);
  }

  async #fetchAndWrite(urls: readonly string[], reply: unknown, asked: unknown): Promise<UnaryAnswer> {
    const { cancellation } = this.#current.request;
    const { endpoint, egress } = this.#upstreamRequest;
    const files = await this.#deps.media.fetchAll(urls, { url: endpoint.url, egress, signal: cancellation.signal() });
    cancellation.throwIfOver();
    if (!files) return { fault: unreachable };
    return this.#write(this.#codecs.client.withFiles?.(reply, files) ?? reply, asked);
  }

  #write(reply: unknown, asked: unknown): UnaryAnswer {
    const { request, record } = this.#current;
    const { client } = this.#codecs;
    const { requestedModel: model, startedAt } = request.job;
    const now = Math.floor((startedAt + request.clock.elapsedMs()) / 1000);
    const context = { model, now, usage: record.settle(true).tokens, mintId: this.#deps.mintId };
    if (request.job.streamForm === 'sse' && client.writeStream)
      return { body: client.writeStream(reply, asked, context), contentType: request.client.contentType('sse') };
    const made = client.writeBody?.(reply, asked, context);
    return made ?? { body: JSON.stringify(client.writeReply(reply, asked, context)), contentType: undefined };
  }
}
