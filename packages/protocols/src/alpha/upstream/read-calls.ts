import type { ChatEvent } from '../../chat/event.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { asNumber, asString, own } from '../../kit/read.ts';
import { readSignatureOf } from '../shared/signatures.ts';
import { JsonProgress } from './json-progress.ts';

/** One piece of a call in a record; '' where it does not say. */
interface Fragment {
  id: string;
  name: string;
  text: string;
  /** A free-text tool. */
  custom: boolean;
}

/** One call that is being received. The block opens when the name is known; what came before waits in `early`. */
interface Call {
  id: string;
  name: string;
  custom: boolean;
  block: number | null;
  early: string;
  earlySignature: string | undefined;
  progress: JsonProgress;
  closed: boolean;
}

/**
 * Tool calls of one reply, from fragments to blocks. The key is `index` alone; ids repeated as '' change nothing. Fragments without an index, and
 * servers that give every call index 0, are told apart by what the fragment brings.
 */
export class CallReader {
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #open = new Set<Call>();
  #last: Call | undefined;
  #nextFree = 0;
  readonly #newBlock: () => number;

  constructor(newBlock: () => number) {
    this.#newBlock = newBlock;
  }

  get any(): boolean {
    return this.#last !== undefined;
  }

  read(fragment: unknown, events: ChatEvent[]): void {
    const custom = own(fragment, 'custom');
    const definition = custom ?? own(fragment, 'function') ?? fragment;
    const id = asString(own(fragment, 'id')) ?? '';
    const name = asString(own(definition, 'name')) ?? '';
    const text = argumentText(own(definition, custom === undefined ? 'arguments' : 'input'));
    const call = this.#find(asNumber(own(fragment, 'index')), { id, name, text, custom: custom !== undefined || own(fragment, 'type') === 'custom' }, events);
    if (call.block === null) {
      if (call.id === '' && id !== '') {
        call.id = id;
        this.#byId.set(id, call);
      }
      call.name ||= name;
      call.early += text;
      call.earlySignature ??= readSignatureOf(fragment);
      if (call.name !== '') this.#start(call, events);
      return;
    }
    this.#append(call, text, readSignatureOf(fragment), events);
  }

  /** A signature on the whole message belongs to the first open call. */
  sign(signature: string, events: ChatEvent[]): void {
    for (const call of this.#open) {
      if (call.block === null) continue;
      events.push({ type: 'signature', index: call.block, signature });
      return;
    }
  }

  /** Another block begins: the last call closes when its arguments are whole, so that a writer need not hold back what follows. */
  settle(events: ChatEvent[]): void {
    const call = this.#last;
    if (call && !call.closed && call.block !== null && !call.custom && call.progress.complete) this.#close(call, events);
  }

  /** The reply is over: everything closes, even a call whose name never came. */
  closeAll(events: ChatEvent[]): void {
    for (const call of this.#open) {
      if (call.block === null) this.#start(call, events);
      this.#close(call, events);
    }
  }

  #find(given: number | undefined, { id, name, text, custom }: Fragment, events: ChatEvent[]): Call {
    const known = given === undefined ? this.#guess(id, name) : this.#byIndex.get(given);
    if (known && !isAnother(known, id, name, text)) return known;
    this.settle(events);
    const call: Call = { id: '', name: '', custom, block: null, early: '', earlySignature: undefined, progress: new JsonProgress(), closed: false };
    const index = given ?? this.#nextFree;
    this.#byIndex.set(index, call);
    this.#nextFree = Math.max(this.#nextFree, index + 1);
    this.#open.add(call);
    this.#last = call;
    return call;
  }

  /** Without an index: the call of that id, else a new one when the fragment names one, else the last. */
  #guess(id: string, name: string): Call | undefined {
    if (id !== '') return this.#byId.get(id);
    return name === '' ? this.#last : undefined;
  }

  #start(call: Call, events: ChatEvent[]): void {
    call.block = this.#newBlock();
    events.push({ type: 'block-start', index: call.block, block: { type: 'tool-call', id: call.id, name: call.name, ...(call.custom && { custom: true }) } });
    const { early, earlySignature } = call;
    call.early = '';
    this.#append(call, early, earlySignature, events);
  }

  #append(call: Call, text: string, signature: string | undefined, events: ChatEvent[]): void {
    if (call.closed || call.block === null) return;
    // Before the call: writers of some protocols put a signature in front of its call.
    if (signature !== undefined) events.push({ type: 'signature', index: call.block, signature: signature });
    if (text !== '') {
      call.progress.add(text);
      events.push({ type: 'arguments-delta', index: call.block, text });
    }
  }

  #close(call: Call, events: ChatEvent[]): void {
    this.#open.delete(call);
    call.closed = true;
    if (call.block !== null) events.push({ type: 'block-end', index: call.block });
  }
}

/** Whether a fragment under a known index begins another call: only one that names a function after the known call was whole can. */
const isAnother = (known: Call, id: string, name: string, text: string): boolean =>
  name !== '' &&
  known.name !== '' &&
  (known.progress.complete ? text !== '' || (id !== '' && id !== known.id) : id !== '' && id !== known.id && name !== known.name);
