/** Turns one request into its answer, whatever the script does that can be survived. */
import { isAscii, isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { ScriptFault } from '@model-gateway/contracts';
import { ScriptSyntaxError } from '@model-gateway/script-language';
import type { RunHead } from '../guest/run.ts';
import type { SlotAnswer, SlotRequest, SlotSettings } from './messages.ts';
import { Realm } from './realm.ts';

export class Answerer {
  readonly #settings: SlotSettings;
  #realm: Realm;

  constructor(settings: SlotSettings) {
    this.#settings = settings;
    this.#realm = warmRealm(settings);
  }

  answer(request: SlotRequest, bytes: Buffer): { answer: SlotAnswer; texts: Buffer } {
    const began = performance.now();
    // Bytes that are not UTF-8 are read as every reader of ours reads them.
    const clean = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8');
    const ascii = isAscii(clean);
    const body = clean.toString(ascii ? 'latin1' : 'utf8');
    try {
      if (body.length * (ascii ? 1 : bytesPerCharacter) > (this.#settings.memoryLimitMb * 1024 * 1024) / 2)
        return this.#failed({ code: 'TooMuchMemory', message: 'the body is too large for the memory of a script', line: null }, began);
      const { head, text } = this.#realm.run(
        { script: request.script, body, context: JSON.stringify(request.context) },
        { canSwitch: request.canSwitch, seed: randomBytes(16).toString('hex') },
      );
      const { places, texts } = clean === bytes ? inBytes(head, text, body, clean) : whole(head, text, body);
      return { answer: { operations: head.operations, execution_time_ms: elapsed(began), use_model: head.useModel, fault: head.fault, places }, texts };
    } catch (error) {
      return this.#failed(faultOf(error), began);
    }
  }

  /** Between runs, when nobody waits. */
  renew(): void {
    if (!this.#realm.spent) return;
    this.#realm.dispose();
    this.#realm = warmRealm(this.#settings);
  }

  /** An isolate that was stopped from outside is not trusted again. */
  #failed(fault: ScriptFault, began: number): { answer: SlotAnswer; texts: Buffer } {
    if (fault.code !== 'SyntaxError') this.#realm.dispose();
    return { answer: { operations: 0, execution_time_ms: elapsed(began), use_model: null, fault, places: [] }, texts: Buffer.alloc(0) };
  }
}

/** Looks into a body, changes it and prints a part of it: what a first script would otherwise wait for to be compiled, a hundred milliseconds on a busy machine. */
const warming = `function transform(body, context) {
  for (const { name, text } of body.list) if (/a/.test(text) && context.stream) body[name] = [...body.list, { ...body }];
  set_path(body, 'list.0.text', JSON.stringify(body.list).slice(1).replace(/b/g, 'c'));
  delete body.gone;
  return body;
}`;

/** However short the time of a script is set: in ms. */
const warmingMs = 10_000;

function warmRealm(settings: SlotSettings): Realm {
  const realm = new Realm(settings);
  const input = { script: warming, body: '{"list":[{"name":"x","text":"abc"}],"gone":1}', context: '{"stream":true}' };
  realm.run(input, { canSwitch: true, seed: '' }, warmingMs);
  return realm;
}

/** The engine takes two as soon as one character is beyond Latin-1. */
const bytesPerCharacter = 2;

const elapsed = (began: number): number => Math.round((performance.now() - began) * 1000) / 1000;

function faultOf(error: unknown): ScriptFault {
  if (error instanceof ScriptSyntaxError) return { code: 'SyntaxError', message: error.message, line: error.line };
  const message = error instanceof Error ? error.message : String(error);
  if (/timed out/i.test(message)) return { code: 'TooMuchTime', message: 'the script took too long', line: null };
  if (/memory limit|isolate (?:was|is) disposed|allocation failed/i.test(message))
    return { code: 'TooMuchMemory', message: 'the script used too much memory', line: null };
  if (error instanceof SyntaxError) return { code: 'SyntaxError', message, line: lineOf(error) };
  if (error instanceof RangeError && /call stack/i.test(message)) return { code: 'StackOverflow', message, line: null };
  return { code: error instanceof Error && /^[A-Z]\w{0,40}$/.test(error.name) ? error.name : 'Error', message: message.slice(0, 500), line: null };
}

/** The compiler says where in the name of the file. */
function lineOf({ message, stack = '' }: Error): number | null {
  const found = /script\.js:(\d+)/.exec(`${message}\n${stack}`);
  return found ? Number(found[1]) : null;
}

/** Converts the places and texts of a run to byte offsets and bytes. */
function inBytes({ places }: RunHead, text: string, body: string, bytes: Buffer): { places: number[] | null; texts: Buffer } {
  if (places === null || places.length === 0) return { places, texts: Buffer.from(text, 'utf8') };
  const plain = body.length === bytes.length;
  const out: number[] = [];
  let [character, byte, textFrom] = [0, 0, 0];
  const byteAt = (position: number): number => {
    byte += plain ? position - character : Buffer.byteLength(body.slice(character, position));
    character = position;
    return byte;
  };
  for (let at = 0; at < places.length; at += 3) {
    const [start = 0, end = 0, length = 0] = places.slice(at, at + 3);
    out.push(byteAt(start), byteAt(end), Buffer.byteLength(text.slice(textFrom, textFrom + length)));
    textFrom += length;
  }
  return { places: out, texts: Buffer.from(text, 'utf8') };
}

/** The caller's bytes cannot be kept: the whole body goes back. */
function whole({ places, fault }: RunHead, text: string, body: string): { places: number[] | null; texts: Buffer } {
  if (fault || places === null) return { places, texts: Buffer.from(text, 'utf8') };
  let out = '';
  let [from, textFrom] = [0, 0];
  for (let at = 0; at < places.length; at += 3) {
    const [start = 0, end = 0, length = 0] = places.slice(at, at + 3);
    out += body.slice(from, start) + text.slice(textFrom, textFrom + length);
    from = end;
    textFrom += length;
  }
  return { places: null, texts: Buffer.from(out + body.slice(from), 'utf8') };
}
