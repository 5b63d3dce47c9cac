/** A caller of each client protocol that keeps its conversation as the vendor's own SDK does: replies go back as they came, whole or collected from a stream. */
import type { ProtocolId } from '@model-gateway/contracts';
import { readSse } from '../support/read-sse.ts';
import type { Json } from './ask.ts';

/** One conversation, and how it is sent and read in its protocol. */
export interface Talk {
  protocol: ProtocolId;
  say(words: string): void;
  /** Answers every call of the last reply. */
  answerCalls(): void;
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean): Json;
  /** Takes a whole reply into the conversation. */
  take(reply: Json): void;
  /** The whole reply that a stream adds up to. */
  collect(text: string): Json;
}

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
const description = 'Looks something up';

function alpha(): Talk {
  const messages: Json[] = [];
  return {
    protocol: 'alpha',
    say: (content) => void messages.push({ role: 'user', content }),
    answerCalls() {
      for (const { id } of messages.at(-1).tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: 'found' });
    },
    path: () => '/v1/chat/completions',
    body: (model, stream) => ({
      ...{ model, messages, stream, reasoning_effort: 'low' },
      tools: [{ type: 'function', function: { name: 'look', description, parameters: schema } }],
    }),
    take: (reply) => void messages.push(reply.choices[0].message),
    collect(text) {
      const message: Json = { role: 'assistant', content: null };
      for (const { json } of readSse(text)) {
        const { tool_calls: calls, reasoning_details: details, role: _role, ...rest } = json?.choices?.[0]?.delta ?? {};
        for (const [key, value] of Object.entries(rest)) if (typeof value === 'string') message[key] = (message[key] ?? '') + value;
        if (details) message.reasoning_details = [...(message.reasoning_details ?? []), ...details];
        for (const { index, ...call } of calls ?? []) {
          message.tool_calls ??= [];
          const begun = message.tool_calls[index];
          if (begun) begun.function.arguments += call.function?.arguments ?? '';
          else message.tool_calls[index] = { ...call, function: { arguments: '', ...call.function } };
        }
      }
      return { choices: [{ message }] };
    },
  };
}

function alphaResponse(): Talk {
  const input: Json[] = [];
  return {
    protocol: 'alpha_response',
    say: (content) => void input.push({ role: 'user', content }),
    answerCalls() {
      const from = input.findLastIndex(({ role, type }) => role === 'user' || type === 'function_call_output');
      for (const { type, call_id } of input.slice(from + 1))
        if (type === 'function_call') input.push({ type: 'function_call_output', call_id, output: 'found' });
    },
    path: () => '/v1/responses',
    body: (model, stream) => ({
      ...{ model, input, stream, store: false, include: ['reasoning.encrypted_content'], reasoning: { effort: 'low', summary: 'auto' } },
      tools: [{ type: 'function', name: 'look', description, parameters: schema, strict: false }],
    }),
    take: (reply) => void input.push(...reply.output),
    collect: (text) => readSse(text).find(({ event }) => event === 'response.completed')?.json.response,
  };
}

function beta(): Talk {
  const messages: Json[] = [];
  const blocks: Readonly<Record<string, (block: Json, delta: Json) => void>> = {
    text_delta(block, { text }) {
      block.text += text;
    },
    thinking_delta(block, { thinking }) {
      block.thinking += thinking;
    },
    signature_delta(block, { signature }) {
      block.signature += signature;
    },
    input_json_delta(block, { partial_json: json }) {
      block.json = (block.json ?? '') + json;
    },
  };
  return {
    protocol: 'beta',
    say: (content) => void messages.push({ role: 'user', content }),
    answerCalls() {
      const uses = messages.at(-1).content.filter(({ type }: Json) => type === 'tool_use');
      messages.push({ role: 'user', content: uses.map(({ id }: Json) => ({ type: 'tool_result', tool_use_id: id, content: 'found' })) });
    },
    path: () => '/v1/messages',
    body: (model, stream) => ({
      ...{ model, messages, stream, max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 2000 } },
      tools: [{ name: 'look', description, input_schema: schema }],
    }),
    take: ({ role, content }) => void messages.push({ role, content }),
    collect(text) {
      const content: Json[] = [];
      for (const { json } of readSse(text)) {
        if (json?.type === 'content_block_start') content[json.index] = { ...json.content_block };
        if (json?.type === 'content_block_delta') blocks[json.delta.type]?.(content[json.index], json.delta);
      }
      return { role: 'assistant', content: content.map(({ json, ...block }) => (json === undefined ? block : { ...block, input: JSON.parse(json) })) };
    },
  };
}

function gamma(): Talk {
  const contents: Json[] = [];
  return {
    protocol: 'gamma',
    say: (text) => void contents.push({ role: 'user', parts: [{ text }] }),
    answerCalls() {
      const calls = contents.at(-1).parts.flatMap(({ functionCall }: Json) => functionCall ?? []);
      const parts = calls.map(({ id, name }: Json) => ({ functionResponse: { ...(id && { id }), name, response: { output: 'found' } } }));
      contents.push({ role: 'user', parts });
    },
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({
      contents,
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      tools: [{ functionDeclarations: [{ name: 'look', description, parameters: schema }] }],
    }),
    take: (reply) => void contents.push(reply.candidates[0].content),
    collect: (text) => ({
      candidates: [{ content: { role: 'model', parts: readSse(text).flatMap(({ json }) => json?.candidates?.[0]?.content?.parts ?? []) } }],
    }),
  };
}

export const talks: readonly (() => Talk)[] = [alpha, alphaResponse, beta, gamma];
