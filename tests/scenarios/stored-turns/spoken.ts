/** What was said in a conversation that an upstream was sent, read from its own protocol's body without any of the gateway's code. */
import type { Host, Json } from './stage.ts';

/** `['user', text]`, `['assistant', text]`, `['call', name, id]` or `['result', text, id]`; ids where the protocol has them. Reasoning is left out. */
export type Spoken = [who: 'user' | 'assistant', text: string] | [what: 'call' | 'result', text: string, id: string];

const list = (value: Json): Json[] => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);
const textOf = (content: Json): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => part.text ?? '')
        .join('');
const texts = (who: 'user' | 'assistant', content: Json): Spoken[] => (textOf(content) === '' ? [] : [[who, textOf(content)]]);

/** In order. System prompts are left out. */
export const readSpoken = (host: Host, body: Json): Spoken[] => readers[host](body);

const chat = (messages: Json[]): Spoken[] =>
  messages.flatMap((one): Spoken[] => {
    if (one.role === 'tool') return [['result', textOf(one.content), one.tool_call_id]];
    if (one.role === 'user') return texts('user', one.content);
    if (one.role !== 'assistant') return [];
    return [...texts('assistant', one.content), ...list(one.tool_calls).map((call): Spoken => ['call', call.function.name, call.id])];
  });

const readers: Record<Host, (body: Json) => Spoken[]> = {
  alpha: ({ messages }) => chat(messages),
  delta: ({ input }) => chat(input.messages),
  alpha_response: ({ input }) =>
    (typeof input === 'string' ? [{ role: 'user', content: input }] : input).flatMap((item: Json): Spoken[] => {
      if (item.type === 'function_call') return [['call', item.name, item.call_id]];
      if (item.type === 'function_call_output') return [['result', textOf(item.output), item.call_id]];
      return item.role === 'user' || item.role === 'assistant' ? texts(item.role, item.content) : [];
    }),
  beta: ({ messages }) =>
    messages.flatMap(({ role, content }: Json) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).flatMap((block: Json): Spoken[] => {
        if (block.type === 'tool_use') return [['call', block.name, block.id]];
        if (block.type === 'tool_result') return [['result', textOf(block.content), block.tool_use_id]];
        return block.type === 'text' ? texts(role, block.text) : [];
      }),
    ),
  gamma: ({ contents }) =>
    contents.flatMap(({ role, parts }: Json) =>
      parts.flatMap((part: Json): Spoken[] => {
        if (part.functionCall) return [['call', part.functionCall.name, part.functionCall.id ?? '']];
        if (part.functionResponse) return [['result', Object.values(part.functionResponse.response).join(''), part.functionResponse.id ?? '']];
        return part.thought ? [] : texts(role === 'model' ? 'assistant' : 'user', part.text ?? '');
      }),
    ),
  cloudhost_converse: ({ messages }) =>
    messages.flatMap(({ role, content }: Json) =>
      content.flatMap((block: Json): Spoken[] => {
        if (block.toolUse) return [['call', block.toolUse.name, block.toolUse.toolUseId]];
        if (block.toolResult) return [['result', textOf(block.toolResult.content), block.toolResult.toolUseId]];
        return block.text === undefined ? [] : texts(role, block.text);
      }),
    ),
};

/** Without ids: for protocols that give calls ids of their own. */
export const withoutIds = (spoken: readonly Spoken[]): string[][] => spoken.map(([what, text]) => [what, text]);
