/** Judges the arguments of a model's calls by the caller's own schemas, where the upstream was given wider ones. Calls pass as they are: a miss is declared. */
import type { Loss } from '@model-gateway/contracts';
import { fitsSchema } from '../kit/fits-schema.ts';
import { Losses } from '../kit/losses.ts';
import type { ChatEvent } from './event.ts';

/** Longer ones are not judged. */
const maxLength = 1024 * 1024;

export class ArgumentsCheck {
  readonly #schemas: ReadonlyMap<string, unknown>;
  readonly #losses = new Losses();
  readonly #open = new Map<number, { schema: unknown; text: string }>();

  /** `schemas`: the caller's, by the names of tools that were sent. */
  constructor(schemas: ReadonlyMap<string, unknown>) {
    this.#schemas = schemas;
  }

  get losses(): Loss[] {
    return this.#losses.list;
  }

  see(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'block-start') this.#begin(event.index, event.block);
      else if (event.type === 'arguments-delta') this.#add(event.index, event.text);
      else if (event.type === 'block-end') this.#end(event.index);
    }
  }

  #begin(index: number, block: Extract<ChatEvent, { type: 'block-start' }>['block']): void {
    if (block.type === 'tool-call' && this.#schemas.has(block.name)) this.#open.set(index, { schema: this.#schemas.get(block.name), text: '' });
  }

  #add(index: number, text: string): void {
    const call = this.#open.get(index);
    if (!call) return;
    call.text += text;
    if (call.text.length > maxLength) this.#open.delete(index);
  }

  #end(index: number): void {
    const call = this.#open.get(index);
    this.#open.delete(index);
    if (call && !fits(call.text, call.schema))
      this.#losses.add('reply.tool_calls.arguments', 'downgraded', 'A call misses the caller’s schema, of which the upstream takes a wider form alone.');
  }
}

function fits(text: string, schema: unknown): boolean {
  try {
    return fitsSchema(text.trim() === '' ? {} : (JSON.parse(text) as unknown), schema);
  } catch {
    // What is not JSON fits nothing.
    return false;
  }
}
