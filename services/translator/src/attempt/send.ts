/** Sends one prepared attempt and carries its reply to the caller; resolves with how it went. */
import { inputTokensOf, isInUpstreamTerms, isUnary, type Job, outputTokensOf } from '@model-gateway/contracts';
import { isGatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { Lease } from '@model-gateway/distributed-state';
import type { UpstreamFault } from '@model-gateway/protocols';
import { Pieces } from '@model-gateway/stream-framing';
import type { OutboundCall } from '@model-gateway/upstream-client';
import { NoAccessError } from '../access-tokens.ts';
import type { HostedReply } from '../hosted-tools/hosted-reply.ts';
import { isUntouched } from '../prepare/order.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import { Pump, type PumpSink } from '../pump.ts';
import type { ReplySink } from '../reply-sink.ts';
import { FoldedTransform, isStream, noSink } from '../reply-transform/folded.ts';
import { HostedTransform } from '../reply-transform/hosted.ts';
import { readEvent } from '../reply-transform/large-event.ts';
import { PassedBytes } from '../reply-transform/passed-bytes.ts';
import { PassedReply } from '../reply-transform/passed-reply.ts';
import type { ReplyTransform } from '../reply-transform/reply-transform.ts';
import { TaskReply } from '../reply-transform/task-reply.ts';
import { TranslatedTransform } from '../reply-transform/translated.ts';
import { UnaryTransform } from '../reply-transform/unary.ts';
import { UnaryReader } from '../reply-transform/unary-reader.ts';
import type { UnaryStream } from '../reply-transform/unary-stream.ts';
import { VerbatimTransform } from '../reply-transform/verbatim.ts';
import type { RequestContext } from '../request/context.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { RequestRecord } from '../request/record.ts';
import { type ResponseScriptContext, runFoldedScript, runResponseScript } from '../scripts/response-script.ts';
import { beginTask, taskCodecOf } from '../tasks/begin-task.ts';
import { noAccess, outboundFault } from './classify.ts';
import type { SendDeps } from './deps.ts';
import { callHeaders } from './headers.ts';
import { isJsonObject } from './json-object.ts';
import { beginsField, beginsMarkup, beginsObject, firstVisible, isCutShort, withoutMark } from './reply-bytes.ts';
import type { AttemptEnd } from './result.ts';
import { deliverWhole } from './whole-reply.ts';

/** Error bodies are read up to this size; the rest says nothing more. */
const maxErrorBytes = 256 * 1024;
/** Blanks before a reply are held up to this size, to see what it begins with. */
const maxBlankBytes = 64 * 1024;
/** One JSON value, not lines of them. */
const oneJson = /^application\/(?:[\w.-]+\+)?json\b/i;
/** After the protocol's end, how long the upstream may take to close its body, so that the connection can be used again. */
const afterEndMs = 1000;

/** What sending needs of its attempt. */
export interface SendContext extends CurrentRequest {
  readonly sink: ReplySink;
  readonly deps: { readonly send: SendDeps };
}

/** Decides what the reply is once its head is there, then feeds it. The lease is released when the upstream's call is over, which may be later than this resolves. */
export function sendAttempt(current: SendContext, upstreamRequest: UpstreamRequest, lease: Lease): Promise<AttemptEnd> {
  return new Promise((resolve) => new Attempt(current, upstreamRequest, lease, resolve).start());
}

/** Whether a reply goes to its caller as it is. That something has not changed is an answer, too, to callers who can ask for it. */
const mayPass = (status: number, { operation }: Job): boolean => (status >= 200 && status <= 299) || (status === 304 && isInUpstreamTerms(operation));

type Mode = 'waiting' | 'stream' | 'whole' | 'bytes' | 'error';

class Attempt {
  readonly #current: CurrentRequest;
  readonly #request: RequestContext;
  readonly #record: RequestRecord;
  readonly #upstreamRequest: UpstreamRequest;
  readonly #sink: ReplySink;
  readonly #deps: SendDeps;
  readonly #lease: Lease;
  readonly #resolve: (end: AttemptEnd) => void;
  readonly #transform: ReplyTransform;
  #outbound: OutboundCall | undefined;
  #mode: Mode = 'waiting';
  #status: number | null = null;
  #headers: Record<string, string> = {};
  readonly #parts = new Pieces();
  #size = 0;
  #begun = false;
  #pump: Pump | undefined;
  /** Of a reply that passes as bytes. */
  #passed: PassedBytes | PassedReply | TaskReply | undefined;
  /** Set when the answer to one question comes in pieces. */
  #streamed: UnaryStream | undefined;
  /** Set when a whole reply comes as a stream. */
  #folded: FoldedTransform | undefined;
  #settled = false;
  #used: number | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  /** The caller left, and this is read on for the bill. */
  #draining = false;

  constructor(current: SendContext, upstreamRequest: UpstreamRequest, lease: Lease, resolve: (end: AttemptEnd) => void) {
    const { request, record, sink, deps } = current;
    this.#current = current;
    this.#request = request;
    this.#record = record;
    this.#upstreamRequest = upstreamRequest;
    this.#sink = sink;
    this.#deps = deps.send;
    this.#lease = lease;
    this.#resolve = resolve;
    const { target } = upstreamRequest;
    this.#transform = target.verbatim ? new VerbatimTransform(current, target.verbatim, target, this.#deps.reply) : this.#write();
  }

  #write(): ReplyTransform {
    return isUnary(this.#request.job.operation) ? new UnaryTransform(this.#current, this.#upstreamRequest, this.#deps.reply) : this.#translate();
  }

  /** Where the gateway runs hosted tools, the reply goes on over several calls. */
  #translate(): TranslatedTransform | HostedReply {
    const { cache } = this.#request;
    const { hosted } = cache;
    if (!hosted) return this.#newTranslation();
    hosted.begin(this.#upstreamRequest.target.signatures.seal);
    if (hosted.isFirst || !cache.hostedReply) cache.hostedReply = new HostedTransform(hosted, this.#newTranslation());
    return cache.hostedReply;
  }

  #newTranslation(): TranslatedTransform {
    return new TranslatedTransform(this.#current, this.#upstreamRequest, this.#deps.reply);
  }

  start(): void {
    this.#request.cancellation.onCancel(() => this.#cancel());
    const headers = callHeaders(this.#current, this.#upstreamRequest, this.#deps.secrets);
    if (!(headers instanceof Promise)) return this.#send(headers);
    headers.then(
      (signed) => this.#send(signed),
      (error: unknown) => {
        if (error instanceof NoAccessError) return this.#settle({ fault: noAccess(error), committed: false, status: null });
        this.#deps.logger.error(
          { request: this.#request.job.id, upstream: this.#upstreamRequest.target.route.upstream.name, error },
          'request could not be signed',
        );
        this.#settle({ fault: { class: 'credential', code: 'unsignable', message: 'the request could not be signed' }, committed: false, status: null });
      },
    );
  }

  #send(headers: Record<string, string>): void {
    // The caller left while the request was being signed.
    if (this.#settled) return;
    const { endpoint, target, bytes, pieces, egress } = this.#upstreamRequest;
    const body = endpoint.method === 'GET' || (endpoint.method !== 'POST' && bytes.length === 0) ? undefined : (pieces ?? bytes);
    this.#outbound = this.#deps.outbound.send(
      {
        method: endpoint.method,
        url: endpoint.url,
        path: endpoint.path,
        headers,
        body,
        timeouts: target.route.timeouts,
        egress,
        packed: isInUpstreamTerms(this.#request.job.operation) && !this.#beginsTask(),
        accessKey: this.#request.job.accessKey,
      },
      {
        head: (status, replyHeaders) => this.#head(status, replyHeaders),
        data: (chunk) => this.#data(chunk),
        end: () => this.#conclude(() => this.#end()),
        error: (fault) =>
          this.#conclude(() => {
            // The status says what is wrong, whether its words came in full or not.
            if (this.#mode === 'error' && !this.#settled) this.#finishError(false);
            else this.#settle({ fault: outboundFault(fault, this.#status !== null), committed: this.#sink.committed, status: this.#status });
          }),
      },
    );
  }

  /** A call reports nothing after its end: whatever reading the reply meets, the attempt is settled here, or its caller would wait for ever. */
  #conclude(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#unreadable(error);
    }
    this.#release();
  }

  #head(status: number, headers: Record<string, string>): void {
    this.#status = status;
    this.#headers = headers;
    this.#record.markFirstByte();
    const { passed } = this.#upstreamRequest.target;
    const contentType = headers['content-type'] ?? '';
    if (status >= 200 && status <= 299 && this.#expectTask(status)) return;
    if (passed && this.#request.job.stream && mayPass(status, this.#request.job)) this.#expectPassed(status);
    else if (status < 200 || status > 299) this.#mode = 'error';
    else if (this.#request.job.streamForm === 'bytes' && this.#upstreamRequest.target.verbatim && !oneJson.test(contentType)) this.#expectBytes();
    else if (this.#request.job.stream && !/json/i.test(contentType)) this.#expectStream();
    else if (!this.#request.job.stream && this.#request.job.operation === 'generate' && !passed && isStream(contentType)) {
      this.#mode = 'stream';
      // Bytes of a stream are none of a whole reply, so both protocols being one changes nothing here.
      this.#folded = new FoldedTransform(this.#upstreamRequest.target.verbatim === null ? this.#transform : this.#translate());
      this.#pump = this.#createPump(this.#folded, noSink);
    } else this.#mode = 'whole';
  }

  #expectBytes(): void {
    this.#mode = 'bytes';
    this.#passed = new PassedBytes(this.#current, this.#upstreamRequest, this.#sink, this.#headers['content-type']);
  }

  #beginsTask(): boolean {
    return taskCodecOf(this.#request, this.#upstreamRequest.target.route) !== null;
  }

  /** Whether the call begins a task, so that its reply is. */
  #expectTask(status: number): boolean {
    const codec = taskCodecOf(this.#request, this.#upstreamRequest.target.route);
    if (!codec) return false;
    this.#mode = 'bytes';
    const begin = (bytes: Buffer): Promise<Buffer> => beginTask(this.#current, codec, bytes, this.#deps.tasks);
    this.#passed = new TaskReply(this.#current, this.#sink, { status, headers: this.#headers }, begin);
    return true;
  }

  #expectPassed(status: number): void {
    this.#mode = 'bytes';
    this.#passed = new PassedReply(this.#current, this.#upstreamRequest, this.#sink, { status, headers: this.#headers });
  }

  #expectStream(): void {
    this.#mode = 'stream';
    this.#pump = this.#createPump(this.#transform, this.#sink);
  }

  #createPump(transform: ReplyTransform, sink: PumpSink): Pump {
    if (transform instanceof UnaryTransform) this.#streamed = transform.stream();
    const streamed = this.#streamed;
    if (streamed) {
      const typed: PumpSink = { commit: () => this.#sink.commit(streamed.contentType), send: (bytes) => this.#sink.send(bytes) };
      return new Pump(this.#record, this.#upstreamRequest, { ...streamed, sink: typed }, this.#deps.reply.maxEventBytes);
    }
    const reader = isUnary(this.#request.job.operation) ? { reader: new UnaryReader(this.#upstreamRequest.target.adapter), parse: readEvent } : {};
    return new Pump(this.#record, this.#upstreamRequest, { transform, sink, ...reader }, this.#deps.reply.maxEventBytes);
  }

  /**
   * Where a stream was asked for, some servers name it JSON, or answer JSON or a web page in its place: the first byte tells, since none begins as the
   * other. false: nothing but blanks, which tell nothing.
   */
  #lookAtFirst(chunk: Buffer): boolean {
    if (!this.#request.job.stream || this.#mode === 'error' || this.#upstreamRequest.target.adapter.framing !== 'sse') return true;
    const first = firstVisible(chunk);
    if (first === undefined) return false;
    if (this.#mode === 'stream' && (beginsObject(first) || beginsMarkup(first))) {
      this.#mode = 'whole';
      this.#pump = undefined;
    } else if (this.#mode === 'whole' && beginsField(first)) this.#expectStream();
    return true;
  }

  #data(chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#passed) return this.#hold(this.#passed.push(chunk));
    if (this.#begun) return this.#take(chunk);
    this.#begun = this.#lookAtFirst(chunk) || this.#size + chunk.length > maxBlankBytes;
    if (!this.#begun) {
      this.#size += chunk.length;
      this.#parts.add(chunk);
      return;
    }
    if (this.#parts.isEmpty) return this.#take(chunk);
    this.#parts.add(chunk);
    this.#size = 0;
    this.#take(this.#parts.take());
  }

  #take(chunk: Buffer): void {
    if (this.#mode === 'stream' && this.#folded === undefined) return this.#feed(chunk);
    this.#size += chunk.length;
    if (this.#mode === 'error' && this.#size > maxErrorBytes) {
      this.#finishError(false);
      this.#outbound?.abort('error body too large');
      return;
    }
    if (this.#size > this.#deps.reply.maxReplyBytes) {
      this.#settle({
        fault: { class: 'server', code: 'too_large', message: 'the reply is larger than the gateway takes' },
        committed: false,
        status: this.#status,
      });
      this.#outbound?.abort('reply too large');
      return;
    }
    if (this.#folded) this.#feed(chunk);
    else this.#parts.add(chunk);
  }

  #feed(chunk: Buffer): void {
    const pump = this.#pump!;
    this.#hold(pump.push(chunk));
    if (!pump.done) return;
    this.#finishStream();
    // Read on to the end of the body so that the connection can be used again, but not for long.
    this.#drainTimer = setTimeout(() => this.#outbound?.abort('reply complete'), afterEndMs).unref();
  }

  /** Reads no faster than the caller does. */
  #hold(writable: boolean): void {
    if (writable) return;
    this.#outbound?.pause();
    this.#sink.onWritable(() => this.#outbound?.resume());
  }

  #end(): void {
    clearTimeout(this.#drainTimer);
    if (this.#settled) return;
    if (this.#mode === 'stream') return this.#finishStream();
    if (this.#passed) return this.#finishPassed(this.#passed);
    if (this.#mode === 'error') return this.#finishError(true);
    this.#finishWhole();
  }

  #finishPassed(passed: PassedBytes | PassedReply | TaskReply): void {
    const end = passed.finish();
    if (!(end instanceof Promise)) return this.#settle({ ...end, status: this.#status });
    end.then(
      (known) => this.#settle({ ...known, status: this.#status }),
      (error: unknown) => this.#settle({ fault: null, committed: false, status: this.#status, refusal: toGatewayError(error) }),
    );
  }

  /** `whole`: its words came in full. Of half of them the status tells as much, and half a credential would not be recognised in them. */
  #finishError(whole: boolean): void {
    const status = this.#status ?? 0;
    // Never followed, whatever its words: the address an admin entered is the only one that is called.
    if (status < 400)
      return this.#settle({ fault: { class: 'server', status, code: 'redirect', message: 'the upstream answered with a redirect' }, committed: false, status });
    // Before anything is cut out of it: half a credential would no longer be recognised.
    const text = this.#parts.take().toString('utf8');
    const body = whole || isJsonObject(text) ? this.#deps.secrets.redactor.redact(text) : '';
    this.#settle({ fault: this.#readError(status, body), committed: false, status, body });
  }

  /** Which method and path are called is the gateway's choice, so that no protocol blames its caller for a 405; in the upstream's own terms it is the caller's. */
  #readError(status: number, body: string): UpstreamFault {
    const fault = this.#upstreamRequest.target.adapter.readError(status, this.#headers, body);
    if (status !== 405 || !isInUpstreamTerms(this.#request.job.operation)) return fault;
    const allow = this.#headers['allow'];
    return { ...fault, class: 'caller', ...(allow !== undefined && { allow }) };
  }

  #finishStream(): void {
    const end = this.#pump!.finish();
    if (this.#streamed?.unread !== undefined) return this.#readWhole(Buffer.from(JSON.stringify(this.#streamed.unread)));
    if (this.#folded) return this.#finishFolded(this.#folded, end.fault);
    this.#settle({ fault: end.fault, committed: end.committed, status: this.#status });
  }

  #finishFolded(folded: FoldedTransform, fault: UpstreamFault | null): void {
    if (fault !== null) return this.#settle({ fault, committed: false, status: this.#status });
    const script = runFoldedScript(this.#scriptContext(), folded);
    if (!script) return this.#deliverFolded(() => folded.print());
    script.then(
      (made) => this.#deliverFolded(() => made),
      (error: unknown) =>
        isGatewayError(error) ? this.#settle({ fault: null, committed: false, status: this.#status, refusal: error }) : this.#unreadable(error),
    );
  }

  #deliverFolded(print: () => string | Uint8Array | undefined): void {
    if (this.#settled) return;
    try {
      const body = print();
      if (body !== undefined) this.#sink.whole(body);
      this.#settle({ fault: null, committed: true, status: this.#status });
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #scriptContext(): ResponseScriptContext {
    const { scripts, reply } = this.#deps;
    const answer = { status: this.#status ?? 0, headers: this.#headers };
    return { request: this.#request, record: this.#record, upstreamRequest: this.#upstreamRequest, answer, scripts, mintId: reply.mintId };
  }

  #finishWhole(): void {
    const bytes = withoutMark(this.#parts.take());
    const script = isUntouched(this.#current) ? undefined : runResponseScript(this.#scriptContext(), bytes);
    if (!script) return this.#readWhole(bytes);
    script.then(
      (made) => this.#readWhole(made),
      (error: unknown) => this.#refuse(bytes, error),
    );
  }

  /** The upstream did its work, which is counted; the caller gets the script's refusal. */
  #refuse(bytes: Buffer, error: unknown): void {
    try {
      this.#record.meter.see(this.#upstreamRequest.target.adapter.readWhole(JSON.parse(bytes.toString('utf8')), this.#upstreamRequest.target.route.target));
    } catch (unreadable) {
      this.#deps.logger.info({ request: this.#request.job.id, error: unreadable }, 'a reply that a script refused cannot be counted');
    }
    this.#settle({ fault: null, committed: false, status: this.#status, refusal: toGatewayError(error) });
  }

  #readWhole(bytes: Buffer): void {
    if (this.#settled) return;
    const reply = {
      request: this.#request,
      record: this.#record,
      body: this.#current.body,
      sink: this.#sink,
      upstreamRequest: this.#upstreamRequest,
      transform: this.#transform,
      contentType: this.#headers['content-type'] ?? '',
      translate: () => (this.#transform instanceof HostedTransform ? this.#transform : this.#translate()),
    };
    try {
      const made = deliverWhole(bytes, reply);
      if (!(made instanceof Promise)) return this.#settle({ ...made, status: this.#status });
      made.then(
        (end) => this.#settle({ ...end, status: this.#status }),
        (error: unknown) =>
          isGatewayError(error) ? this.#settle({ fault: null, committed: false, status: this.#status, refusal: error }) : this.#unreadable(error, bytes),
      );
    } catch (error) {
      this.#unreadable(error, bytes);
    }
  }

  /** `bytes`: the whole reply, where it was to be read at once. */
  #unreadable(error: unknown, bytes?: Buffer): void {
    this.#deps.logger.warn({ request: this.#request.job.id, upstream: this.#upstreamRequest.target.route.upstream.name, error }, 'unreadable reply');
    this.#settle({
      fault:
        bytes && isCutShort(bytes)
          ? { class: 'broken', code: 'incomplete', message: 'the upstream ended its reply before it was complete' }
          : { class: 'broken', code: 'unreadable', message: 'the upstream sent a reply that cannot be read' },
      committed: this.#sink.committed,
      status: this.#status,
    });
  }

  /** The caller left, or this process leaves. By default the upstream call stops at once; `drain` reads on for the exact bill, within caps. */
  #cancel(): void {
    if (this.#settled) return;
    const { drains } = this.#deps;
    if (!this.#mayDrain() || !drains.take()) return this.#abort();
    this.#draining = true;
    this.#outbound?.resume();
    this.#drainTimer = setTimeout(() => this.#abort(), drains.ms).unref();
  }

  /** Not when the process leaves, nor for a request that was not sent yet. */
  #mayDrain(): boolean {
    return (
      // A task that was begun is billed, whether its caller waits or not.
      (this.#upstreamRequest.target.route.upstream.on_client_abort === 'drain' || this.#beginsTask()) &&
      this.#outbound !== undefined &&
      this.#request.cancellation.interruption === null &&
      !this.#draining
    );
  }

  #abort(): void {
    this.#settle({ fault: { class: 'broken', code: 'client_gone', message: 'the caller left' }, committed: this.#sink.committed, status: this.#status });
    this.#outbound?.abort('caller left');
  }

  #release(): void {
    this.#lease.release(() => this.#used ?? tokensUsed(this.#record));
  }

  #settle(end: AttemptEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    if (end.fault && this.#passed instanceof PassedBytes) this.#passed.breakOff();
    // The next call of the same reply may begin before this one is closed.
    if (this.#request.cache.hosted) this.#used = tokensUsed(this.#record);
    if (this.#draining) {
      clearTimeout(this.#drainTimer);
      this.#deps.drains.giveBack();
    }
    if (!this.#outbound) this.#lease.giveBack();
    this.#resolve(end);
  }
}

function tokensUsed(record: RequestRecord): number {
  const { tokens } = record.settleCall();
  return inputTokensOf(tokens) + outputTokensOf(tokens);
}
