/** Instruments a script: every function, loop and block reports the operations it is about to run, and every text that grows is checked. */
import type { Node } from 'acorn';
import MagicString from 'magic-string';
import { parseScript, reservedPrefix, ScriptSyntaxError } from './parse.ts';
import { childrenOf } from './walk.ts';

/** Parameters of the instrumented function, in order. */
export const hookNames = {
  /** `(operations)`: counts, and throws when there were too many. */
  charge: `${reservedPrefix}Charge`,
  /** `(operations)`: a frame begins; counts too. */
  enter: `${reservedPrefix}Enter`,
  /** `()`: that frame ends. */
  leave: `${reservedPrefix}Leave`,
  /** `(value)`: the value, when it is no text that is too long. */
  text: `${reservedPrefix}Text`,
  /** `(iterable)`: the iterable, when it is not too large to be spread. */
  spread: `${reservedPrefix}Spread`,
  /** `(pattern, flags)`: replaces a regular expression literal. */
  regExp: `${reservedPrefix}RegExp`,
} as const;

/** A script with counting hooks, as text. */
export interface InstrumentedScript {
  /** An expression: an arrow function over the hooks that returns the script's `transform`. */
  code: string;
}

/** The operations of a block of code, counted when it is entered. */
interface Region {
  weight: number;
}

// The syntax tree as acorn returns it; only the fields used here are assumed.
// biome-ignore lint/suspicious/noExplicitAny: one shape for every kind of node.
type Any = Node & Record<string, any>;

const calls: ReadonlySet<string> = new Set(['CallExpression', 'NewExpression', 'TaggedTemplateExpression', 'YieldExpression']);
const loops: ReadonlySet<string> = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement']);
const functions: ReadonlySet<string> = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Throws ScriptSyntaxError. */
export function instrumentScript(source: string): InstrumentedScript {
  const { text, program } = parseScript(source);
  const out = new MagicString(text);
  try {
    const region: Region = { weight: 1 };
    for (const statement of program.body) visit(statement as Any, region, out);
    out.prependLeft(0, `((${Object.values(hookNames).join(',')})=>{`);
    // Behind the directive, before whatever the script says first.
    const first = program.body[1] ?? program.body[0];
    if (first) out.prependLeft(first.start, `${hookNames.charge}(${region.weight});`);
    out.append('\n;return transform})');
  } catch (error) {
    if (error instanceof RangeError) throw new ScriptSyntaxError('the script is nested too deeply', 1);
    throw error;
  }
  return { code: out.toString() };
}

function visit(node: Any, region: Region, out: MagicString): void {
  if (calls.has(node.type)) region.weight++;
  if (functions.has(node.type)) return visitFunction(node, out);
  if (loops.has(node.type)) return visitLoop(node, region, out);
  const special = Object.hasOwn(visitors, node.type) ? visitors[node.type] : undefined;
  if (special) special(node, region, out);
  else visitChildren(node, region, out);
}

function visitChildren(node: Any, region: Region, out: MagicString): void {
  for (const child of childrenOf(node)) visit(child as Any, region, out);
}

function visitFunction(node: Any, out: MagicString): void {
  const { body } = node;
  const region: Region = { weight: 1 };
  for (const parameter of node['params']) visit(parameter, region, out);
  const counted = node['generator'];
  if (body.type === 'BlockStatement') {
    for (const statement of body.body) visit(statement, region, out);
    if (body.body.length === 0) {
      // Nothing may throw between the two hooks.
      out.prependRight(body.start + 1, `${hookNames.charge}(${region.weight});`);
      return;
    }
    out.prependRight(body.start + 1, counted ? `${hookNames.charge}(${region.weight});` : `${hookNames.enter}(${region.weight});try{`);
    if (!counted) out.appendLeft(body.end - 1, `}finally{${hookNames.leave}()}`);
    return;
  }
  visit(body, region, out);
  out.prependRight(body.start, `{${hookNames.enter}(${region.weight});try{return(`);
  out.appendLeft(body.end, `)}finally{${hookNames.leave}()}}`);
}

/** What a loop does once is counted with the code around it; what it does in each turn, with its body. */
function visitLoop(node: Any, region: Region, out: MagicString): void {
  const turn: Region = { weight: 1 };
  const { body, init, test, update, left, right } = node;
  if (init) visit(init, region, out);
  if (right) visit(right, region, out);
  for (const part of [test, update, left]) if (part) visit(part, turn, out);
  if (body.type === 'BlockStatement') {
    for (const statement of body.body) visit(statement, turn, out);
    out.prependRight(body.start + 1, `${hookNames.charge}(${turn.weight});`);
    return;
  }
  visit(body, turn, out);
  out.prependRight(body.start, `{${hookNames.charge}(${turn.weight});`);
  out.appendLeft(body.end, '}');
}

/** Statements that may be skipped count for themselves. Children are visited first, so that insertions at the same position end up in front of theirs. */
function visitStatements(statements: readonly Any[], at: number | undefined, out: MagicString): void {
  if (at === undefined) return;
  const region: Region = { weight: 0 };
  for (const statement of statements) visit(statement, region, out);
  if (region.weight > 0) out.prependRight(at, `${hookNames.charge}(${region.weight});`);
}

function wrap(node: Any, hook: string, out: MagicString): void {
  out.prependRight(node.start, `${hook}(`);
  out.appendLeft(node.end, ')');
}

/** Of a chain of sums the outermost is looked at: no part of a text is longer than the whole. */
function visitSum(node: Any, region: Region, out: MagicString): void {
  for (let sum = node; ; sum = sum['left']) {
    visit(sum['right'], region, out);
    if (!isSum(sum['left'])) {
      visit(sum['left'], region, out);
      return;
    }
  }
}

const isSum = (node: Any): boolean => node.type === 'BinaryExpression' && node['operator'] === '+';

const visitors: Readonly<Record<string, (node: Any, region: Region, out: MagicString) => void>> = {
  BlockStatement: (node, _region, out) => visitStatements(node['body'], node.start + 1, out),
  StaticBlock: (node, _region, out) => visitStatements(node['body'], node['body'][0]?.start, out),
  SwitchCase(node, region, out) {
    if (node['test']) visit(node['test'], region, out);
    visitStatements(node['consequent'], node['consequent'][0]?.start, out);
  },
  PropertyDefinition(node, region, out) {
    if (node['computed']) visit(node['key'], region, out);
    const { value } = node;
    if (!value) return;
    const own: Region = { weight: 1 };
    visit(value, own, out);
    out.prependRight(value.start, `(${hookNames.charge}(${own.weight}),`);
    out.appendLeft(value.end, ')');
  },
  BinaryExpression(node, region, out) {
    if (!isSum(node)) return visitChildren(node, region, out);
    visitSum(node, region, out);
    wrap(node, hookNames.text, out);
  },
  AssignmentExpression(node, region, out) {
    visitChildren(node, region, out);
    if (node['operator'] === '+=') wrap(node, hookNames.text, out);
  },
  TemplateLiteral(node, region, out) {
    visitChildren(node, region, out);
    if (node['expressions'].length > 0) wrap(node, hookNames.text, out);
  },
  TaggedTemplateExpression(node, region, out) {
    visit(node['tag'], region, out);
    for (const expression of node['quasi'].expressions) visit(expression, region, out);
  },
  SpreadElement(node, region, out) {
    visit(node['argument'], region, out);
    // A spread object may be anything, and its keys are few: only what is iterated is looked at.
    wrap(node['argument'], hookNames.spread, out);
  },
  Literal(node, _region, out) {
    const { regex } = node;
    if (regex) out.overwrite(node.start, node.end, `${hookNames.regExp}(${JSON.stringify(regex.pattern)},${JSON.stringify(regex.flags)})`);
  },
};
