/** A reply that passes with its status, its headers and every byte, read beside only for what it used. */
import { isInUpstreamTerms } from '@model-gateway/contracts';
import type { AttemptEnd } from '../attempt/result.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { CurrentRequest } from '../request/current.ts';
import { isStream } from './folded.ts';
import { RenamedLines } from './renamed-reply.ts';
import { UsageObserver } from './usage-observer.ts';

/** Of the upstream's connection or about it, for the browser of another host's pages, or what names the account behind the gateway. */
const kept =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|date|server|via|alt-svc|set-cookie2?|www-authenticate|strict-transport-security|x-request-id|z-request-id|x-gateway-.*|access-control-.*|openai-organization|openai-project|anthropic-organization-id|cf-.*|x-envoy-.*|report-to|nel|expect-ct|content-security-policy.*|x-content-type-options|x-frame-options|cross-origin-.*|permissions-policy|clear-site-data|service-worker-allowed|refresh)$/;

/** Headers of an upstream's reply that reach the caller. */
export function passedReplyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const named = new Set((headers['connection'] ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !kept.test(name) && !named.has(name)));
}

export class PassedReply {
  readonly #current: CurrentRequest;
  readonly #sink: ReplySink;
  readonly #head: { status: number; headers: Record<string, string> } | undefined;
  readonly #contentType: string | undefined;
  readonly #observer: UsageObserver | null;
  /** On the gateway's own paths. */
  readonly #lines: RenamedLines | null;

  constructor(current: CurrentRequest, { target }: UpstreamRequest, sink: ReplySink, head: { status: number; headers: Record<string, string> }) {
    this.#current = current;
    this.#sink = sink;
    this.#contentType = head.headers['content-type'];
    // On the gateway's own paths replies have its own head.
    const { operation, requestedModel } = current.request.job;
    const isOurs = !isInUpstreamTerms(operation);
    if (!isOurs) this.#head = { status: head.status, headers: passedReplyHeaders(head.headers) };
    const family = target.passed?.family;
    const isPlain = head.headers['content-encoding'] === undefined || head.headers['content-encoding'] === 'identity';
    this.#lines = isOurs && isPlain && isStream(this.#contentType ?? '') ? new RenamedLines(requestedModel) : null;
    this.#observer =
      family && isPlain ? new UsageObserver({ family, target: target.route.target, contentType: this.#contentType ?? '', meter: current.record.meter }) : null;
  }

  /** false: stop reading until the sink is writable. */
  push(chunk: Uint8Array): boolean {
    this.#commit();
    this.#observer?.push(chunk);
    return this.#send(this.#lines ? this.#lines.push(chunk) : chunk);
  }

  #send(bytes: Uint8Array): boolean {
    return bytes.length === 0 || this.#sink.send(bytes);
  }

  finish(): Omit<AttemptEnd, 'status'> {
    this.#commit();
    if (this.#lines) this.#send(this.#lines.finish());
    const usage = this.#observer?.finish();
    if (usage) this.#current.record.meter.count(usage);
    return { fault: null, committed: true };
  }

  /** With the first byte: until then another upstream may be tried. */
  #commit(): void {
    if (this.#sink.committed) return;
    this.#current.record.markContent();
    this.#sink.commit(this.#contentType, this.#head);
  }
}
