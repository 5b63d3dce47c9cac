/**
 * Ends a stream that broke, from the bytes the caller has seen. The terminal event must repeat the whole reply, so unlike other closers this one
 * parses events and keeps the items.
 */
import { noUsage, type TurnStatus, type Usage } from '@model-gateway/contracts';
import type { GatewayWarning, StreamTerminator, TerminatorContext } from '../../contract/index.ts';
import { asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { type SeenItem, SeenItems } from '../shared/seen-items.ts';
import { turnFields } from '../shared/turns/response-object.ts';
import { writeUsage } from '../shared/usage.ts';
import { newResponse, printEvent, terminalEvents } from '../shared/wire.ts';

/** Items that the caller runs as soon as they are complete; those that the vendor runs are repeated with the turn. */
const clientCalls: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
  'tool_search_call',
]);

export class ResponseTerminator implements StreamTerminator {
  readonly #context: TerminatorContext;
  readonly #decoder = new TextDecoder();
  #items = new SeenItems();
  #line = '';
  #data: string[] = [];
  #response: JsonObject | undefined;
  #running = false;
  #sequence = 0;
  #ended = false;
  #called = false;
  /** `close` ended the reply. */
  #closed = false;

  constructor(context: TerminatorContext) {
    this.#context = context;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get repeatable(): boolean {
    return !this.#ended && !this.#called;
  }

  get response(): JsonObject | undefined {
    return this.#ended ? this.#response : undefined;
  }

  observe(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n', from);
      if (end < 0) break;
      this.#readLine(this.#line + text.slice(from, end));
      this.#line = '';
      from = end + 1;
    }
    this.#line += text.slice(from);
  }

  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string {
    // Bytes of an event without its blank line would swallow what follows.
    const loose = this.#line !== '' || this.#data.length > 0 ? '\n\n' : '';
    if (loose !== '') this.#readLine(this.#line);
    this.#readLine('');
    this.#line = '';
    if (this.#ended) return loose;
    this.#ended = true;
    const base = this.#response ?? this.#newResponse();
    const printed = this.#sequence;
    try {
      return loose + this.#end(base, warning, usage);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // What nests too deep was parsed, and cannot be printed again: the reply ends without it.
      this.#sequence = printed;
      this.#items = new SeenItems();
      return loose + this.#end(this.#newResponse(asString(own(base, 'id'))), warning, usage);
    }
  }

  closed(failed?: { code: string; message: string }): { status: TurnStatus; response: unknown } | null {
    if (!this.#closed) return null;
    if (!failed) return { status: 'incomplete', response: this.#response };
    return { status: 'failed', response: { ...this.#response, status: 'failed', error: failed, incomplete_details: null } };
  }

  #newResponse(id?: string): JsonObject {
    const { mintId, model, createdAt, turn } = this.#context;
    return { ...newResponse(id ?? turn?.id ?? mintId('resp_'), model, createdAt), ...(turn && { ...turnFields(turn), ...(id !== undefined && { id }) }) };
  }

  #end(base: JsonObject, { reason, detail, timestamp }: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string {
    let text = this.#response ? '' : this.#print('response.created', { response: base });
    if (!this.#running && this.#items.size === 0)
      text += this.#print('response.in_progress', { response: { ...base, status: 'in_progress', output: [], usage: null } });
    for (const item of this.#items.open()) text += this.#closeItem(item);
    const response = {
      ...base,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: this.#items.output(),
      usage: writeUsage(usage ?? noUsage),
    };
    text += this.#print('response.incomplete', { response, _gateway_warning: { reason, detail, last_finish_reason: null, timestamp } });
    this.#response = response;
    this.#closed = true;
    return text;
  }

  #closeItem(item: SeenItem): string {
    let text = '';
    for (const { type, fields } of item.missingEvents()) text += this.#print(type, fields);
    const value = item.finish();
    return text + this.#print('response.output_item.done', { output_index: item.outputIndex, item: value });
  }

  #print(type: string, fields: JsonObject): string {
    return printEvent(type, this.#sequence++, fields);
  }

  #readLine(raw: string): void {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line.startsWith('data:')) this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return;
    const data = this.#data.join('\n');
    this.#data = [];
    try {
      this.#readEvent(asObject(JSON.parse(data)));
    } catch {
      // Not an event of this protocol (`[DONE]`): it changes nothing.
    }
  }

  #readEvent(event: JsonObject | undefined): void {
    const type = asString(own(event, 'type'));
    if (!event || type === undefined) return;
    // Servers that do not number their events count by what was seen.
    this.#sequence = (asNumber(own(event, 'sequence_number')) ?? this.#sequence) + 1;
    if (terminalEvents.has(type)) this.#ended = true;
    const response = asObject(own(event, 'response'));
    if (response) this.#response = response;
    if (type === 'response.in_progress') this.#running = true;
    if (type === 'response.output_item.done' && clientCalls.has(asString(own(own(event, 'item'), 'type')) ?? '')) this.#called = true;
    this.#items.observe(type, event);
  }
}

export const createTerminator = (context: TerminatorContext): StreamTerminator => new ResponseTerminator(context);
