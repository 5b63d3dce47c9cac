/** Reads a stream of events that is not a conversation, as far as passing it on needs: when it begins, what it used, and whether it came to its end. */
import { isObject } from '@model-gateway/contracts';
import type { ChatEvent, ReplyReader, StreamRecord, UpstreamAdapter } from '@model-gateway/protocols';

/** What shows that something has come which a caller can use. */
export const content: ChatEvent = { type: 'block-start', index: 0, block: { type: 'text' } };

export class UnaryReader implements ReplyReader {
  readonly #adapter: Pick<UpstreamAdapter, 'isUnaryEnd' | 'readUnaryUsage'>;
  #ended: boolean;

  constructor(adapter: Pick<UpstreamAdapter, 'isUnaryEnd' | 'readUnaryUsage'>) {
    this.#adapter = adapter;
    this.#ended = adapter.isUnaryEnd === undefined;
  }

  read({ data, json, event, failure }: StreamRecord): ChatEvent[] {
    if (json === undefined) {
      this.#ended ||= data.trim() === '[DONE]';
      return [];
    }
    if (failure !== undefined || event === 'error' || isError(json))
      return [{ type: 'error', error: { class: 'server', code: 'stream_error', message: 'the upstream reported an error in its stream' } }];
    this.#ended ||= this.#adapter.isUnaryEnd?.(json) === true;
    const usage = this.#adapter.readUnaryUsage?.(json);
    return usage ? [content, { type: 'usage', usage }] : [content];
  }

  /** Such streams end with their body. */
  finish(): ChatEvent[] {
    return this.#ended ? [{ type: 'finish', reason: 'stop' }, { type: 'end' }] : [];
  }
}

/** vLLM names its error alone, and ends its stream as ever. */
const isError = (json: unknown): boolean => isObject(json) && (json['type'] === 'error' || Boolean(json['error']));
