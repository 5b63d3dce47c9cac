/** An upstream's custom headers and user agent: compiled once, rendered for each call, and safe to send whatever the caller's values contain. */
import type { TemplateFacts } from './facts.ts';
import { compileTemplate, type Template } from './template.ts';

/** An upstream's custom headers after compilation: `fixed` values are ready to send, `templates` are rendered for each call. */
export interface HeaderTemplates {
  /** Lower-case names; those without variables. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly templates: readonly (readonly [name: string, template: Template])[];
}

/** Maximum length of a rendered value. */
const maxValueLength = 8192;

/** Headers of the connection and its framing, and those the upstream client sets itself. */
const ownNames = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why a custom header may not have this name, or null. */
export function headerNameFault(name: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)) return 'not a header name';
  const lower = name.toLowerCase();
  return ownNames.has(lower) || lower.startsWith('proxy-') || lower === '__proto__' ? 'this header belongs to the connection' : null;
}

/** Why a custom header may not have this value, or null. Header bytes are Latin-1. */
export const headerValueFault = (value: string): string | null =>
  /^[\t\x20-\x7e\u00a0-\u00ff]*$/.test(value) ? null : 'must be visible Latin-1 characters: no control characters, nothing above U+00FF';

/**
 * `userAgent` becomes one more template, unless a custom header has that name. Throws TemplateError; the console refuses such texts on save, so an
 * upstream that was saved always compiles.
 */
export function compileHeaders(customHeaders: Readonly<Record<string, string>>, userAgent: string | null): HeaderTemplates {
  const all = new Map<string, string>();
  for (const [name, text] of [['user-agent', userAgent ?? ''] as const, ...Object.entries(customHeaders)]) {
    // An empty custom header means none: as when all variables are empty, no header of this name is written, and what was there stays.
    if (text.trim() !== '') all.set(name.toLowerCase(), text);
  }
  const fixed: Record<string, string> = {};
  const templates: (readonly [string, Template])[] = [];
  for (const [name, text] of all) {
    const template = compileTemplate(text);
    if (template.literal) fixed[name] = text;
    else templates.push([name, template]);
  }
  return { fixed, templates };
}

/** Writes over what `into` holds; a template whose variables are all empty leaves its header as it was. */
export function renderHeaders(headers: HeaderTemplates, facts: () => TemplateFacts, into: Record<string, string>): void {
  for (const name in headers.fixed) into[name] = headers.fixed[name] as string;
  if (headers.templates.length === 0) return;
  const known = facts();
  for (const [name, template] of headers.templates) {
    const value = safeHeaderValue(template.render(known));
    if (value !== '') into[name] = value;
  }
}

/** Those of these names as `renderHeaders` would write them; undefined where it would write none. */
export function renderNamed(headers: HeaderTemplates, names: readonly string[], facts: () => TemplateFacts): Record<string, string> | undefined {
  const templates = headers.templates.filter(([name]) => names.includes(name));
  const fixed = Object.fromEntries(names.flatMap((name) => (Object.hasOwn(headers.fixed, name) ? [[name, headers.fixed[name] as string]] : [])));
  renderHeaders({ fixed, templates }, facts, fixed);
  return Object.keys(fixed).length > 0 ? fixed : undefined;
}

/** No line break can start another header; what is not ASCII is percent-encoded, so that two names stay two. */
export function safeHeaderValue(value: string | undefined): string {
  if (value === undefined) return '';
  const visible = value.slice(0, maxValueLength).replace(/[^\t\x20-\x7e\u00a0-\uffff]/g, '');
  const encoded = /[^\t\x20-\x7e]/.test(visible) ? encodeBeyondAscii(visible) : visible;
  return encoded.trim();
}

/** Lone surrogates mean nothing and are left out; what does not fit is cut between characters. */
function encodeBeyondAscii(text: string): string {
  let out = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const next = code > 0x7e ? encodeURIComponent(character) : character;
    if (out.length + next.length > maxValueLength) break;
    out += next;
  }
  return out;
}
