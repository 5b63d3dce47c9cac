/** Reads what an editor offers out of the declarations that the API gives for scripts. */
import type { CodeCompletion } from './code-completion.ts';

const declared = /^declare function (\w+)(?:<\w+>)?(\(.*);$/;
const member = /^ {2}(readonly )?(\w+)\??(\(.*|: .*);$/;
const opened = /^interface (\w+) \{$/;

/** Members belong to the interface's name with a small first letter: `Context` is what scripts call `context`. */
export function completionsOf(declarations: string): CodeCompletion[] {
  const found: CodeCompletion[] = [];
  let owner: string | null = null;
  let words: string[] = [];
  for (const line of declarations.split('\n')) {
    const comment = commentOf(line);
    if (comment !== null) {
      // A comment that opens replaces the one before it.
      words = line.trimStart().startsWith('/**') ? [comment] : [...words, comment];
      continue;
    }
    const completion = owner === null ? functionOf(line) : memberOf(line, owner);
    if (completion) found.push({ ...completion, info: words.filter(Boolean).join(' ') });
    words = [];
    const [, name] = opened.exec(line) ?? [];
    if (name) owner = name.charAt(0).toLowerCase() + name.slice(1);
    else if (line === '}') owner = null;
  }
  return found;
}

function commentOf(line: string): string | null {
  const text = line.trim();
  if (!text.startsWith('/**') && !text.startsWith('*')) return null;
  return text
    .replace(/^\/\*\*|^\*\/?/, '')
    .replace(/\*\/$/, '')
    .trim();
}

function functionOf(line: string): Omit<CodeCompletion, 'info'> | null {
  const [, label, detail = ''] = declared.exec(line) ?? [];
  // The script's own function is not called by it.
  return label && label !== 'transform' ? { label, detail, type: 'function' } : null;
}

function memberOf(line: string, owner: string): Omit<CodeCompletion, 'info'> | null {
  const [, , label, rest = ''] = member.exec(line) ?? [];
  if (!label) return null;
  const isMethod = rest.startsWith('(');
  return { label, detail: isMethod ? rest : rest.slice(2), type: isMethod ? 'method' : 'property', memberOf: owner };
}
