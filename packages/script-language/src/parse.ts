/** Reads a script as strict-mode JavaScript and refuses what the sandbox forbids by its form alone. */
import { type Node, type Program, parse } from 'acorn';
import { childrenOf } from './walk.ts';

/** Characters. */
export const maxScriptLength = 100_000;
/** Names of the counting hooks begin with it, so a script may not use it. */
export const reservedPrefix = '__gateway';

/** The strict-mode directive is put on the script's own first line, so that line numbers stay the same. */
const prologue = '"use strict";';

/** Why a script is refused, and the line of the admin's text. */
export interface ScriptFault {
  message: string;
  /** From 1. */
  line: number;
}

/** The text is not a script; `line` is the admin's own. */
export class ScriptSyntaxError extends Error implements ScriptFault {
  override readonly name = 'SyntaxError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** The text that was parsed, and its acorn syntax tree. */
export interface ParsedScript {
  /** `source` behind the prologue; the tree's positions are in this text. */
  text: string;
  program: Program;
}

/** Throws ScriptSyntaxError. */
export function parseScript(source: string): ParsedScript {
  if (source.length > maxScriptLength) throw new ScriptSyntaxError(`the script is longer than ${maxScriptLength} characters`, 1);
  const text = prologue + source;
  const program = readProgram(text);
  refuseForbidden(program, text);
  if (!program.body.some(declaresTransform)) throw new ScriptSyntaxError('the script must define function transform(body, context)', 1);
  return { text, program };
}

/** The first fault of a script, or null. */
export function checkScript(source: string): ScriptFault | null {
  try {
    parseScript(source);
    return null;
  } catch (error) {
    if (!(error instanceof ScriptSyntaxError)) throw error;
    return { message: error.message, line: error.line };
  }
}

function readProgram(text: string): Program {
  try {
    return parse(text, { ecmaVersion: 'latest', sourceType: 'script', preserveParens: true, allowHashBang: false });
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    // acorn overflowed the stack: the script is nested too deeply.
    if (error instanceof RangeError || message.startsWith('Not enough stack')) throw new ScriptSyntaxError('the script is nested too deeply', loc?.line ?? 1);
    // acorn ends its messages with a position that counts our prologue.
    throw new ScriptSyntaxError(message.replace(/ \(\d+:\d+\)$/, ''), loc?.line ?? 1);
  }
}

export const lineOf = (text: string, position: number): number => {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line++;
  return line;
};

const forbidden: Readonly<Record<string, string>> = {
  ImportExpression: 'import is not allowed in a script',
  MetaProperty: 'import.meta and new.target are not allowed in a script',
  ImportDeclaration: 'import is not allowed in a script',
  AwaitExpression: 'await is not allowed in a script: nothing in it waits',
};

/** Deeper trees would end the walk, and the engine's own parser, by their stack. */
const deepestTree = 400;

function refuseForbidden(program: Program, text: string): void {
  const open: { node: Node; depth: number }[] = [{ node: program, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, depth } = next;
    const message = Object.hasOwn(forbidden, node.type) ? forbidden[node.type] : undefined;
    if (message) throw new ScriptSyntaxError(message, lineOf(text, node.start));
    if ((node as unknown as { async?: boolean }).async === true || (node as unknown as { await?: boolean }).await === true)
      throw new ScriptSyntaxError('async functions are not allowed in a script: transform() answers at once', lineOf(text, node.start));
    if (depth > deepestTree) throw new ScriptSyntaxError('the script is nested too deeply', lineOf(text, node.start));
    if (node.type === 'Identifier' && (node as unknown as { name: string }).name.startsWith(reservedPrefix))
      throw new ScriptSyntaxError(`names that begin with ${reservedPrefix} are reserved`, lineOf(text, node.start));
    for (const child of childrenOf(node)) open.push({ node: child, depth: depth + 1 });
  }
}

function declaresTransform(statement: Program['body'][number]): boolean {
  if (statement.type === 'FunctionDeclaration') return statement.id?.name === 'transform';
  return statement.type === 'VariableDeclaration' && statement.declarations.some(({ id }) => id.type === 'Identifier' && id.name === 'transform');
}
