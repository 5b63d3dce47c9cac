/**
 * Some editors send bodies of other protocols, whole or in parts, to the chat completions path and expect chat completions in reply: Responses
 * bodies, or, for models with a Claude-like name, tools and blocks of the messages protocol. The body's content decides, not its path: a body of
 * another shape is read and written anew; tools of the Responses shape are corrected in place.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { Target, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import { chatFamily } from './families.ts';

type Body = Pick<VerbatimRequestContext, 'contains' | 'value'>;

/** Texts one of which is in every body with tools or blocks of the messages protocol. */
export const blockWords = ['input_schema', 'tool_use_id'] as const;

/** No `input` in place of `messages`, no content parts of the other spelling, no blocks, and no images that the vendor would have to fetch and does not. */
export const takes: NonNullable<VerbatimRules['takes']> = (body, operation, target) =>
  operation !== 'generate' ||
  !((body.value?.('input') && !body.value('messages')) || body.contains('"input_text"') || holdsBlocks(body) || namesUnopened(body, target));

const imageAddress = /"url"\s*:\s*"https?:/;

const namesUnopened = (body: Body, target: Target): boolean =>
  body.contains('"image_url"') && !chatFamily(target).opensImages && imageAddress.test(body.value?.('messages')?.toString('latin1') ?? '');

/** Arguments of a tool may be called like that as well: where the words stand decides. */
function holdsBlocks(body: Body): boolean {
  if (body.contains('"tool_use_id"') && body.value?.('messages')?.includes('"tool_result"')) return true;
  const tools = body.contains('"input_schema"') ? body.value?.('tools') : undefined;
  return tools !== undefined && (asArray(readJson(tools)) ?? []).some((tool) => own(tool, 'input_schema') !== undefined);
}

/** undefined for invalid JSON, which is reported later, when the body is parsed. */
function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const kinds = ['function', 'custom'] as const;

/** Edits that give flat tools (`{type, name, parameters}`), and a choice that names one, the nested form. */
export function nestTools(context: VerbatimRequestContext): Edit[] {
  const edits: Edit[] = [];
  if (mayHoldFlat(context, 'tools')) {
    (asArray(own(context.parse(), 'tools')) ?? []).forEach((tool, at) => {
      const value = nested(tool);
      if (value) edits.push({ path: ['tools', at], value });
    });
  }
  if (mayHoldFlat(context, 'tool_choice')) {
    const value = nested(own(context.parse(), 'tool_choice'));
    if (value) edits.push({ path: ['tool_choice'], value });
  }
  return edits;
}

/** In the nested form each kind stands twice: as the value of `type`, and as the key of what it holds. Counting that needs no parsing. */
function mayHoldFlat(body: Body, key: string): boolean {
  const bytes = body.value?.(key);
  return bytes !== undefined && bytes.length > 2 && kinds.some((kind) => standsMoreOftenAsValue(bytes, `"${kind}"`));
}

const colon = 0x3a;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function standsMoreOftenAsValue(bytes: Buffer, word: string): boolean {
  let surplus = 0;
  for (let at = bytes.indexOf(word, 0, 'latin1'); at >= 0; at = bytes.indexOf(word, at + 1, 'latin1')) {
    let next = at + word.length;
    while (isSpace(bytes[next])) next++;
    surplus += bytes[next] === colon ? -1 : 1;
  }
  return surplus > 0;
}

/** The nested form of a flat definition; undefined for anything else. What is about the entry and not about the tool stays outside. */
function nested(value: unknown): unknown {
  const kind = kinds.find((one) => own(value, 'type') === one);
  const flat = asObject(value);
  if (!kind || !flat || own(flat, kind) !== undefined || asString(own(flat, 'name')) === undefined) return undefined;
  const { type, cache_control, ...definition } = flat;
  return { type, [kind]: kind === 'custom' ? withNestedGrammar(definition) : definition, ...(cache_control !== undefined && { cache_control }) };
}

/** The other protocol spells a grammar flat; here it is one level deeper. */
function withNestedGrammar(definition: Record<string, unknown>): Record<string, unknown> {
  const format = asObject(own(definition, 'format'));
  if (own(format, 'type') !== 'grammar' || own(format, 'grammar') !== undefined) return definition;
  return { ...definition, format: { type: 'grammar', grammar: { syntax: own(format, 'syntax'), definition: own(format, 'definition') } } };
}
