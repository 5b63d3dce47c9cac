/** What the rows of Anthropic's messages read, and the bodies that their examples are made of. */
import { isGiven, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { hello, pixel, weather } from './kit.ts';

export type Row = Omit<VendorRule, 'protocol'>;

export const turnsOf = (body: Json): { role: string; blocks: Json[]; content: unknown }[] =>
  list(body['messages']).map(({ role, content }) => ({
    role: textOf(role),
    content,
    blocks: typeof content === 'string' ? [{ type: 'text', text: content }] : list(content),
  }));
export const idsOf = (blocks: readonly Json[], type: string, key: string): string[] =>
  blocks.filter((block) => block['type'] === type).map((block) => textOf(block[key]));
/** The vendor holds the turns before the first one. */
export const goesOn = (body: Json): boolean => objectOf(body['thread'])['type'] === 'continue';
/** All blocks, with those inside results. */
export const everyBlock = (body: Json): { where: string; block: Json; role: string }[] =>
  turnsOf(body).flatMap(({ role, blocks }, at) =>
    blocks.flatMap((block, index) => [
      { where: `messages.${at}.content.${index}`, block, role },
      ...(block['type'] === 'tool_result'
        ? list(block['content']).map((inner, n) => ({ where: `messages.${at}.content.${index}.tool_result.content.${n}`, block: inner, role }))
        : []),
    ]),
  );
export const customTools = (body: Json): { at: number; tool: Json }[] =>
  list(body['tools']).flatMap((tool, at) => (isGiven(tool['type']) && tool['type'] !== 'custom' ? [] : [{ at, tool }]));
export const thinking = (body: Json): string => textOf(objectOf(body['thinking'])['type']);
export const imageTypes = /^image\/(?:jpeg|png|gif|webp)$/;

/** From 4.6 on a reply cannot be begun for it. */
export const withoutPrefill = /^claude-(?:(?:opus|sonnet|haiku)-(?:4-(?:[6-9]|\d\d)(?!\d)|[5-9])|fable|mythos)/;
/** From Opus 4.7 on nothing about sampling may be said. */
export const withoutSampling = /^claude-(?:opus-4-(?:[7-9]|\d\d)(?!\d)|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)/;
export const oneOfBoth = /^claude-(?:opus-4-[1-6]|sonnet-4-[56]|haiku-4-[56])(?!\d)/;

export const version = { 'anthropic-version': '2023-06-01' };
export const ask = (more: Json = {}): Json => ({ max_tokens: 100, messages: hello, ...more });
export const use = (id = 'toolu_1', name = 'weather'): Json => ({ type: 'tool_use', id, name, input: { city: 'Paris' } });
export const result = (id = 'toolu_1', content: unknown = 'sunny'): Json => ({ type: 'tool_result', tool_use_id: id, content });
export const tools = [{ name: 'weather', input_schema: weather }];
export const betaLoop = (before: Json[] = [], id = 'toolu_1'): Json[] => [
  ...hello,
  { role: 'assistant', content: [...before, use(id)] },
  { role: 'user', content: [result(id)] },
];
export const picture = (media_type: string): Json => ({ type: 'image', source: { type: 'base64', media_type, data: pixel } });
