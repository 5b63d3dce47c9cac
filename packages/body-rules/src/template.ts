/** Templates: text with `{{variable}}` and fallback chains `{{a|b}}`, read once and rendered for each request. */
import { type TemplateFacts, visibleHeader } from './facts.ts';

type Read = (facts: TemplateFacts) => string;

const variables: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['request_id', (facts) => facts.requestId],
  ['request_access_key_name', (facts) => facts.accessKeyName],
  ['request_access_key_group', (facts) => facts.accessKeyGroup],
  ['access_key_hash', (facts) => facts.accessKeyHash()],
  ['system_prompt_hash', (facts) => facts.systemPromptHash()],
]);
export const templateVariables: readonly string[] = [...variables.keys(), 'header:<name>'];

/** The text is not a template: the message says why, for the admin who wrote it. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A parsed template. `render` gives undefined when it has variables and all of them are empty. */
export interface Template {
  /** Whether it holds no variable: `render` then gives the same text always. */
  readonly literal: boolean;
  /** undefined: it has variables, and all of them are empty. */
  render(facts: TemplateFacts): string | undefined;
}

/** A chain's variables in the order of preference, or literal text. */
type Part = string | readonly Read[];

const maxVariables = 64;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Throws TemplateError. */
export function compileTemplate(text: string): Template {
  const parts = readParts(text);
  const [only] = parts;
  if (parts.every((part) => typeof part === 'string')) return { literal: true, render: () => text };
  // A lone chain is the common case.
  if (parts.length === 1 && typeof only === 'object') return { literal: false, render: (facts) => firstOf(only, facts) || undefined };
  return { literal: false, render: (facts) => renderParts(parts, facts) };
}

function readParts(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let count = 0;
  for (;;) {
    const open = text.indexOf('{{', at);
    if (open < 0) break;
    const close = text.indexOf('}}', open + 2);
    if (close < 0) throw new TemplateError('{{ is not closed by }}');
    if (open > at) parts.push(text.slice(at, open));
    const chain = text
      .slice(open + 2, close)
      .split('|')
      .map(readVariable);
    count += chain.length;
    if (count > maxVariables) throw new TemplateError(`holds more than ${maxVariables} variables`);
    parts.push(chain);
    at = close + 2;
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at));
  return parts;
}

function readVariable(text: string): Read {
  const name = text.trim();
  const known = variables.get(name);
  if (known) return known;
  const [kind = '', header = ''] = name.split(/:(.*)/s, 2);
  if (kind.trimEnd() === 'header' && name.includes(':')) {
    const wanted = header.trim();
    if (!headerName.test(wanted)) throw new TemplateError('header: is not followed by a header name');
    const lower = wanted.toLowerCase();
    return (facts) => visibleHeader(facts, lower);
  }
  throw new TemplateError(`{{${name.slice(0, 60)}}} is not a variable; accepted: ${templateVariables.join(', ')}`);
}

function firstOf(chain: readonly Read[], facts: TemplateFacts): string {
  for (const read of chain) {
    const value = read(facts);
    if (value !== '') return value;
  }
  return '';
}

function renderParts(parts: readonly Part[], facts: TemplateFacts): string | undefined {
  let out = '';
  let found = false;
  for (const part of parts) {
    if (typeof part === 'string') out += part;
    else {
      const value = firstOf(part, facts);
      if (value !== '') found = true;
      out += value;
    }
  }
  return found ? out : undefined;
}
