/** Reads a vendor's events as this host delivers them: its exceptions, its counts, and the end of the body as the end of the reply. */

import { noUsage } from '@model-gateway/contracts';
import type { ChatEvent } from '../../chat/event.ts';
import { streamFault } from '../../cloudhost_converse/index.ts';
import type { ReplyReader, StreamRecord, Target } from '../../contract/index.ts';
import { asCount, asObject, own } from '../../kit/read.ts';
import { shapeOf } from './shapes.ts';

/** Added by the host to the last event. */
export const metricsKey = 'amazon-bedrock-invocationMetrics';

class HostReader implements ReplyReader {
  readonly #inner: ReplyReader;
  #over = false;
  #finished = false;
  #counted = false;

  constructor(inner: ReplyReader) {
    this.#inner = inner;
  }

  read(record: StreamRecord): ChatEvent[] {
    if (this.#over) return [];
    if (record.failure !== undefined) {
      this.#over = true;
      return [{ type: 'error', error: streamFault(record) }];
    }
    return this.#note(this.#inner.read(record), own(record.json, metricsKey));
  }

  finish(): ChatEvent[] {
    if (this.#over) return [];
    const events = this.#note(this.#inner.finish(), undefined);
    return this.#over || !this.#finished ? events : [...events, { type: 'end' }];
  }

  /** The vendor's own counts stand; the host's fill in where it gives none. */
  #note(events: ChatEvent[], metrics: unknown): ChatEvent[] {
    for (const { type } of events) {
      if (type === 'finish') this.#finished = true;
      else if (type === 'usage') this.#counted = true;
      else if (type === 'end' || type === 'error') this.#over = true;
    }
    if (this.#counted || !asObject(metrics)) return events;
    const usage: ChatEvent = { type: 'usage', usage: readMetrics(metrics) };
    return events.at(-1)?.type === 'end' ? [...events.slice(0, -1), usage, { type: 'end' }] : [...events, usage];
  }
}

const readMetrics = (metrics: unknown): typeof noUsage => ({
  ...noUsage,
  input: asCount(own(metrics, 'inputTokenCount')),
  cacheRead: asCount(own(metrics, 'cacheReadInputTokenCount')),
  cacheWrite5m: asCount(own(metrics, 'cacheWriteInputTokenCount')),
  output: asCount(own(metrics, 'outputTokenCount')),
});

export const createReader = (target: Target): ReplyReader => new HostReader(shapeOf(target).createReader(target));

export const readWhole = (body: unknown, target: Target): ChatEvent[] => shapeOf(target).readWhole(body, target);
