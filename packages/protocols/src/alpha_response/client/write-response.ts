/** Canonical events into the caller's stream, and a whole reply as the same object. */
import { type Loss, noUsage, type Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent, FinishReason } from '../../chat/event.ts';
import { type Message, unfoldMessage } from '../../chat/fold.ts';
import type { ReplyContext, ReplyWriter } from '../../contract/index.ts';
import { readCitedPages } from '../../kit/cited-pages.ts';
import { Losses } from '../../kit/losses.ts';
import { asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { type ServedTier, writeServedTier } from '../../kit/service-tier.ts';
import { markSignature, type SignatureOwner } from '../../kit/signature-mark.ts';
import { tiersWritten } from '../shared/service-tiers.ts';
import { writeEnding } from '../shared/stop-reasons.ts';
import { writeProbabilities } from '../shared/token-probabilities.ts';
import { turnFields } from '../shared/turns/response-object.ts';
import { writeUsage } from '../shared/usage.ts';
import { annotationKind, newResponse, printEvent, type RequestEcho } from '../shared/wire.ts';
import { CallItem, ClientCallItem, CustomCallItem, MessageItem, type OutputItem, type Print, RawItem, ReasoningItem } from './output-items.ts';

interface OpenBlock {
  item: OutputItem;
  /** A signature that belongs to a text or a call: it follows as an item of its own. */
  signature?: string;
}

const protocol = 'alpha_response';

type RawBlock = Extract<BlockStart, { type: 'raw' }>;

export class ResponseWriter implements ReplyWriter {
  /** The response object as it stands; complete after `end`. */
  response: JsonObject | undefined;
  readonly #context: ReplyContext;
  readonly #echo: RequestEcho | undefined;
  readonly #losses = new Losses();
  readonly #output: JsonObject[] = [];
  readonly #open = new Map<number, OpenBlock>();
  /**
   * Blocks that ended but are not closed on the wire yet: only the next block or the finish tells whether the last one was complete or cut,
   * and a cut call must not look finished.
   */
  #settling: OpenBlock[] = [];
  readonly #callIds = new Set<string>();
  #items = 0;
  #sequence = 0;
  #usage: Usage = { ...noUsage };
  #reason: FinishReason = 'other';
  #refused = false;
  #tier: ServedTier | undefined;
  /** The text that citations belong to: the newest, until it is closed on the wire. */
  #text: MessageItem | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#echo = context.echo as RequestEcho | undefined;
  }

  get losses(): Loss[] {
    return this.#losses.list;
  }

  write(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start();
      case 'block-start':
        if (event.block.type === 'raw' && this.#probe(event.block)) return this.#start();
        if (event.block.type === 'raw' && this.#isCitation(event.block)) return this.#start() + this.#citeRaw(event.block);
        return this.#start() + this.#settle(false) + this.#openBlock(event.index, event.block);
      case 'text-delta':
      case 'thinking-delta':
      case 'refusal-delta':
      case 'arguments-delta':
        return event.text === '' ? '' : (this.#open.get(event.index)?.item.delta(this.#print, event.text) ?? '');
      case 'signature':
        this.#sign(event.index, event.signature);
        return '';
      case 'raw-delta': {
        const item = this.#open.get(event.index)?.item;
        const value = asObject(event.value);
        if (item instanceof RawItem && value) item.value = this.#seal(value);
        else if (item && !(item instanceof RawItem) && !this.#cite(item, event.value))
          this.#losses.add('content.annotations', 'dropped', 'A citation in another vendor’s words has no place here.');
        return '';
      }
      case 'block-end':
        this.#endBlock(event.index);
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        // Here a refusal is content; without any, only the filter says that the model did not simply finish.
        this.#reason = event.reason === 'refusal' && !this.#refused ? 'content-filter' : event.reason;
        this.#tier = event.servedTier;
        if (event.stopSequence !== undefined) this.#losses.add('stop_sequence', 'dropped', 'This protocol does not say which stop sequence was hit.');
        return this.#start() + this.#settleAll(writeEnding(this.#reason).status === 'incomplete');
      case 'end':
        return this.#start() + this.#settleAll(false) + this.#end();
      case 'error':
        return '';
    }
  }

  readonly #print: Print = (type, fields) => printEvent(type, this.#sequence++, fields);

  #start(): string {
    if (this.response) return '';
    const { model, createdAt, turn, mintId } = this.#context;
    this.response = { ...newResponse(turn?.id ?? mintId('resp_'), model, createdAt, this.#echo?.fields), ...(turn && turnFields(turn)) };
    const running = { response: this.response };
    if (!turn?.background) return this.#print('response.created', running) + this.#print('response.in_progress', running);
    const queued = { response: { ...this.response, status: 'queued' } };
    return this.#print('response.created', queued) + this.#print('response.queued', queued) + this.#print('response.in_progress', running);
  }

  #openBlock(index: number, block: BlockStart): string {
    if (block.type === 'raw') return this.#openRaw(index, block);
    const item = this.#newItem(block);
    this.#open.set(index, { item });
    return item.open(this.#print);
  }

  #newItem(block: Exclude<BlockStart, RawBlock>): OutputItem {
    switch (block.type) {
      case 'text':
        this.#text = new MessageItem(this.#place('msg_'), 'text', block.phase);
        return this.#text;
      case 'refusal':
        this.#refused = true;
        return new MessageItem(this.#place('msg_'), 'refusal', undefined);
      case 'thinking':
        return new ReasoningItem(this.#place('rs_'));
      case 'redacted-thinking':
        return new ReasoningItem(this.#place('rs_'), this.#mark(block.data, { kind: 'redacted' }));
      case 'tool-call':
        return this.#newCall(block);
    }
  }

  #newCall(block: Extract<BlockStart, { type: 'tool-call' }>): OutputItem {
    const callId = this.#callId(block.id);
    const named: JsonObject = this.#echo?.namespaced.get(block.name) ? { ...this.#echo.namespaced.get(block.name) } : { name: block.name };
    if (block.custom) return new CustomCallItem(this.#place('ctc_'), callId, named);
    const client = this.#echo?.clientTools.get(block.name);
    if (client) return new ClientCallItem(this.#place(client.prefix), callId, client);
    return new CallItem(this.#place('fc_'), callId, named);
  }

  /** The upstream's id as it is; a missing one, or one that this reply has used, is minted. */
  #callId(given: string): string {
    const id = given === '' || this.#callIds.has(given) ? this.#context.mintId('call_') : given;
    this.#callIds.add(id);
    return id;
  }

  #openRaw(index: number, block: RawBlock): string {
    const value = block.protocol === protocol ? asObject(block.value) : undefined;
    if (!value) {
      this.#losses.add('content.raw', 'dropped', 'A block of another vendor’s own kind has no place here.');
      return '';
    }
    const id = asString(own(value, 'id')) ?? this.#context.mintId('item_');
    const item = new RawItem({ id, outputIndex: this.#items++ }, this.#seal({ ...value, id }));
    this.#open.set(index, { item });
    return item.open(this.#print);
  }

  /** Whether the block held log probabilities of the newest text, which are then added to it. */
  #probe(block: RawBlock): boolean {
    const probabilities = this.#text && writeProbabilities(block);
    if (probabilities) this.#text?.probe(probabilities);
    return probabilities !== undefined;
  }

  #isCitation({ protocol: spoken, value }: RawBlock): boolean {
    if (spoken === protocol) return own(value, 'type') === annotationKind;
    return this.#text !== undefined && readCitedPages(value).pages.length > 0;
  }

  /** A citation belongs to the text that is still open, or to the one that just ended. */
  #citeRaw({ protocol: spoken, value }: RawBlock): string {
    if (spoken === protocol) return this.#annotate(own(value, 'annotation'));
    this.#cite(this.#text, value);
    return '';
  }

  #annotate(annotation: unknown): string {
    if (this.#text) return this.#text.annotate(this.#print, annotation);
    this.#losses.add('content.annotations', 'dropped', 'A citation came without its text.');
    return '';
  }

  /** Whether another vendor's words name pages, which are then noted on the text. */
  #cite(item: OutputItem | undefined, value: unknown): boolean {
    const { pages, more } = readCitedPages(value);
    if (!(item instanceof MessageItem) || pages.length === 0) return false;
    item.cite(pages);
    if (more)
      this.#losses.add('content.citations', 'downgraded', 'Pages that are cited keep their address and title; what else a vendor says of them has no place.');
    return true;
  }

  #sign(index: number, signature: string): void {
    const block = this.#open.get(index);
    if (block?.item instanceof ReasoningItem) block.item.encrypted = this.#mark(signature, { kind: 'thinking' });
    else if (block) block.signature = signature;
  }

  #endBlock(index: number): void {
    const block = this.#open.get(index);
    if (!block) return;
    this.#open.delete(index);
    this.#settling.push(block);
  }

  /** Closes on the wire what has ended. When the reply was cut, the item opened last was cut, and so was any call whose arguments do not parse. */
  #settle(cut: boolean): string {
    const blocks = this.#settling;
    this.#settling = [];
    const last = this.#items - 1;
    let text = '';
    for (const { item, signature } of blocks) {
      const closed = item.close(this.#print, cut && (item.outputIndex === last || item instanceof CallItem));
      this.#output[item.outputIndex] = closed.item;
      if (item === this.#text) this.#text = undefined;
      text += closed.text;
      if (signature !== undefined && closed.item['status'] !== 'incomplete') text += this.#carry(item, signature);
    }
    return text;
  }

  #settleAll(cut: boolean): string {
    for (const index of [...this.#open.keys()]) this.#endBlock(index);
    return this.#settle(cut);
  }

  /** A reasoning item without text, right behind what it vouches for. */
  #carry(owner: OutputItem, signature: string): string {
    const called = owner instanceof CallItem || owner instanceof CustomCallItem || owner instanceof ClientCallItem;
    const item = new ReasoningItem(this.#place('rs_'), this.#mark(signature, called ? { kind: 'call', callId: owner.callId } : { kind: 'text' }));
    const opened = item.open(this.#print);
    const closed = item.close(this.#print, false);
    this.#output[item.outputIndex] = closed.item;
    return opened + closed.text;
  }

  #end(): string {
    if (!this.response) return '';
    const ending = writeEnding(this.#reason);
    const tier = writeServedTier(this.#tier, tiersWritten, this.#losses);
    Object.assign(this.response, {
      status: ending.status,
      completed_at: ending.status === 'completed' ? this.#context.now() : null,
      incomplete_details: ending.status === 'incomplete' ? { reason: ending.reason } : null,
      output: this.#output,
      ...(tier !== undefined && { service_tier: tier }),
      usage: writeUsage(this.#usage),
    });
    return this.#print(`response.${ending.status}`, { response: this.response });
  }

  #place(prefix: string): { id: string; outputIndex: number } {
    return { id: this.#context.mintId(prefix), outputIndex: this.#items++ };
  }

  #mark(signature: string, owner: SignatureOwner): string {
    return markSignature(this.#context.sealSignature(signature), owner);
  }

  /** A vendor's own item may hold a signature too (a compacted history). */
  #seal(value: JsonObject): JsonObject {
    const encrypted = asString(own(value, 'encrypted_content'));
    return encrypted ? { ...value, encrypted_content: this.#context.sealSignature(encrypted) } : value;
  }
}

export const createWriter = (context: ReplyContext): ReplyWriter => new ResponseWriter(context);

/** The object that a stream's terminal event would carry. */
export function writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] } {
  const writer = new ResponseWriter(context);
  for (const event of unfoldMessage(message)) writer.write(event);
  return { body: writer.response, losses: writer.losses };
}
