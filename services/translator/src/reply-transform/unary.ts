/** The answer to one question that is not a conversation, written anew in the caller's protocol. */
import type { UnaryReplyContext, UpstreamFault } from '@model-gateway/protocols';
import type { NamedBy } from '../media/vendor-media.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';
import { partsOf, readUnary, type UnaryCodecs, unaryCodecs } from '../request/unary-codecs.ts';
import { awaitTask } from '../tasks/await-task.ts';
import type { ReplyDeps } from './deps.ts';
import type { ReplyTransform } from './reply-transform.ts';
import { UnaryStream } from './unary-stream.ts';

/** What a body was: the caller's answer, why there is none, or (`more`) the answer to a part of the question. */
export type UnaryAnswer = { body: string | Uint8Array; contentType: string | undefined } | { fault: UpstreamFault } | { more: true };

/** Where neither model nor upstream says how long a call may take. */
const defaultTaskMs = 600_000;

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

  /** Of an answer that comes in pieces; undefined: nobody knows how to read or write such ones. */
  stream(): UnaryStream | undefined {
    const { client, upstream } = this.#codecs;
    const { readEvent, split } = upstream;
    const { body, request, record } = this.#current;
    if (!readEvent || split) return undefined;
    const writer = client.createWriter?.(readUnary(this.#codecs, body).request, request.job.streamForm);
    const parts = partsOf(this.#current, this.#codecs, this.#upstreamRequest.target.route.target);
    return (
      writer &&
      new UnaryStream(readEvent, writer, () => {
        // All of it was answered: there is no other call to make.
        parts.add(undefined, record.meter.usage ?? null);
        return this.#context();
      })
    );
  }

  /** A stream has an object of its own. */
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
   * Throws for a body that is not an answer to the request. Counts what the upstream says of its work; else it is estimated from the request. A promise only
   * where files have to be fetched.
   */
  answer(json: unknown): UnaryAnswer | Promise<UnaryAnswer> {
    const { upstream } = this.#codecs;
    return upstream.isTask?.(this.#upstreamRequest.target.route.target) ? this.#answerLater(json) : this.#answer(json);
  }

  /** The call began a task: its end has the answer, or says where it is. */
  async #answerLater(begun: unknown): Promise<UnaryAnswer> {
    const { adapter, route } = this.#upstreamRequest.target;
    const { tasks: codec } = adapter;
    const withinMs = route.timeouts.total_ms ?? defaultTaskMs;
    const ended = codec ? await awaitTask(this.#current, begun, { codec, withinMs }, this.#deps.tasks) : begun;
    const url = this.#codecs.upstream.replyAddress?.(ended);
    if (url === undefined) return this.#answer(ended);
    const file = await this.#deps.media.fetchJson(url, this.#namedBy());
    return file === undefined ? { fault: unreachable } : this.#answer(ended, file);
  }

  #answer(json: unknown, file?: unknown): UnaryAnswer | Promise<UnaryAnswer> {
    const { record, body } = this.#current;
    const { client, upstream } = this.#codecs;
    const parts = partsOf(this.#current, this.#codecs, this.#upstreamRequest.target.route.target);
    const answer = upstream.readReply(json, parts.current, file);
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
    const files = await this.#deps.media.fetchAll(urls, this.#namedBy());
    this.#current.request.cancellation.throwIfOver();
    if (!files) return { fault: unreachable };
    return this.#write(this.#codecs.client.withFiles?.(reply, files) ?? reply, asked);
  }

  #namedBy(): NamedBy {
    const { endpoint, egress } = this.#upstreamRequest;
    return { url: endpoint.url, egress, signal: this.#current.request.cancellation.signal() };
  }

  #context(): UnaryReplyContext {
    const { request, record } = this.#current;
    const { requestedModel: model, startedAt } = request.job;
    const now = Math.floor((startedAt + request.clock.elapsedMs()) / 1000);
    return { model, now, usage: record.settle(true).tokens, mintId: this.#deps.mintId };
  }

  #write(reply: unknown, asked: unknown): UnaryAnswer {
    const { request } = this.#current;
    const { client } = this.#codecs;
    const context = this.#context();
    if (request.job.streamForm === 'sse' && client.writeStream)
      return { body: client.writeStream(reply, asked, context), contentType: request.client.contentType('sse') };
    const made = client.writeBody?.(reply, asked, context);
    return made ?? { body: JSON.stringify(client.writeReply(reply, asked, context)), contentType: undefined };
  }
}
