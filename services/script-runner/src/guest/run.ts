/** One run of a script's `transform` over a body: a view in, replacements out. */

import { LazyNode } from './body/node.ts';
import { Printer, type Replacement } from './body/print.ts';
import { nodeOf, viewOf } from './body/view.ts';
import { setSeed } from './builtins/time.ts';
import { makeContext, Wish } from './context.ts';
import { LimitFault } from './limits.ts';
import { Meter, setCurrentMeter } from './meter.ts';
import { LinearRegExp } from './regexp.ts';

/** Taken before the sandbox bounds it: the body is not the script's. */
const parseJson: (text: string) => unknown = JSON.parse;

/** The instrumented script: hooks in, `transform` out. */
type Factory = (...hooks: unknown[]) => unknown;

export interface RunOptions {
  maxOperations: number;
  /** Read the body when it is looked into. false: all of it at once, as plain objects. */
  lazy: boolean;
  canSwitch: boolean;
  /** Random text. */
  seed: string;
}

/** Why a run failed, with the line of the script. */
export interface RunFault {
  code: string;
  message: string;
  /** Of the script, from 1; null when nobody knows. */
  line: number | null;
}

/** The result of a run besides the texts: where each replacement goes and how long its text is. */
export interface RunHead {
  operations: number;
  useModel: string | null;
  fault: RunFault | null;
  /** Start, end and text length, again and again; null: the text is the whole new body. */
  places: number[] | null;
}

export function run(factory: Factory, body: string, context: string, options: RunOptions): { head: RunHead; text: string } {
  const meter = new Meter(options.maxOperations);
  setCurrentMeter(meter);
  setSeed(options.seed);
  const wish = new Wish();
  const finish = (fault: RunFault | null, places: number[] | null, text: string) => ({
    head: { operations: meter.operations, useModel: fault ? null : wish.model, fault, places },
    text,
  });
  try {
    const transform = factory(
      meter.charge,
      meter.enter,
      meter.leave,
      meter.text,
      meter.spread,
      (pattern: string, flags: string) => new LinearRegExp(pattern, flags),
    );
    if (typeof transform !== 'function') throw new TypeError('transform is not a function');
    const root = openBody(body, options.lazy);
    const result: unknown = Reflect.apply(transform, undefined, [root.view, makeContext(context, options.canSwitch, wish)]);
    if (meter.fault) throw meter.fault;
    const returned = giveBack(result, root);
    // Printing runs getters of the script's.
    if (meter.fault) throw meter.fault;
    if (returned.replacements === null) return finish(null, null, returned.text);
    const places: number[] = [];
    let text = '';
    for (const one of returned.replacements) {
      for (const number of [one.start, one.end, one.text.length]) places[places.length] = number;
      text += one.text;
    }
    return finish(null, places, text);
  } catch (error) {
    return finish(describe(meter.fault ?? error), [], '');
  } finally {
    meter.close();
    setCurrentMeter(null);
  }
}

interface Root {
  view: unknown;
  node: LazyNode | null;
  isArray: boolean;
}

function openBody(body: string, lazy: boolean): Root {
  let start = 0;
  while (body.charCodeAt(start) <= 32) start++;
  const isArray = body.charCodeAt(start) === 91;
  if (!lazy || (!isArray && body.charCodeAt(start) !== 123)) return { view: parseJson(body), node: null, isArray };
  const node = new LazyNode(body, start, body.length);
  return { view: viewOf(node), node, isArray };
}

function giveBack(result: unknown, root: Root): { replacements: Replacement[] | null; text: string } {
  if (result === undefined || result === null) throw new MissingReturn();
  if (typeof result !== 'object' || Array.isArray(result) !== root.isArray)
    throw new TypeError(`transform() must return ${root.isArray ? 'a list' : 'an object'}, not ${Array.isArray(result) ? 'a list' : typeof result}`);
  const printer = new Printer();
  if (root.node !== null && nodeOf(result) === root.node) return { replacements: printer.changes(root.node), text: '' };
  return { replacements: null, text: printer.print(result) ?? 'null' };
}

class MissingReturn extends Error {
  constructor() {
    super('transform() must return a value');
  }
}

const maxMessageLength = 500;
const native: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'EvalError', 'URIError']);

/** Whatever was thrown: a script may throw anything, with getters that throw again. */
export function describe(thrown: unknown): RunFault {
  try {
    return read(thrown);
  } catch {
    return { code: 'Error', message: 'the script threw what cannot be read', line: null };
  }
}

function read(thrown: unknown): RunFault {
  if (!(thrown instanceof Error))
    return { code: 'Error', message: `the script threw ${cut(typeof thrown === 'object' ? 'an object' : String(thrown))}`, line: null };
  const message = cut(String(thrown.message));
  const line = lineOf(String(thrown.stack));
  if (thrown instanceof LimitFault) return { code: thrown.limit, message, line };
  if (thrown instanceof MissingReturn) return { code: 'MissingReturnValue', message, line: null };
  const name = String(thrown.name);
  if (name === 'RangeError' && message.includes('call stack')) return { code: 'StackOverflow', message, line };
  return { code: native.has(name) ? name : 'Error', message: native.has(name) || name === 'Error' ? message : cut(`${name}: ${message}`), line };
}

const cut = (text: string): string => text.slice(0, maxMessageLength);

const place = 'script.js:';

/** The first place in the stack that is the script's own. */
function lineOf(stack: string): number | null {
  const at = stack.indexOf(place);
  if (at < 0) return null;
  const line = Number.parseInt(stack.slice(at + place.length), 10);
  return line > 0 ? line : null;
}
