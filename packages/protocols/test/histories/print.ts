/** The same conversation in the words of each protocol that callers speak. */
import type { Piece, Step } from './make.ts';
import { toolNames } from './make.ts';

const png = 'iVBORw0KGgo=';
const parameters = { type: 'object', properties: { a: { type: 'number' } } };
type Json = Record<string, unknown>;
type Printer = (steps: readonly Step[]) => Json;

const only = <K extends Piece['kind']>(pieces: readonly Piece[], kind: K) =>
  pieces.filter((piece): piece is Extract<Piece, { kind: K }> => piece.kind === kind);

function alphaMessages({ role, pieces }: Step): Json[] {
  const said = pieces.flatMap((piece): Json[] =>
    piece.kind === 'text'
      ? [{ type: 'text', text: piece.text }]
      : piece.kind === 'image'
        ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]
        : [],
  );
  const results = only(pieces, 'result').map(({ call, text }): Json => ({ role: 'tool', tool_call_id: call.id, content: text }));
  if (role !== 'assistant') return [...results, ...(said.length > 0 || results.length === 0 ? [{ role, content: said }] : [])];
  const calls = only(pieces, 'call').map(({ call }) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: '{"a":1}' } }));
  const thought = only(pieces, 'thinking').map(({ text }) => text);
  return [
    {
      role,
      content: said.map(({ text }) => text).join(''),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thought.length > 0 && { reasoning_content: thought.join('') }),
    },
  ];
}

function responseItems({ role, pieces }: Step): Json[] {
  return pieces.map((piece): Json => {
    if (piece.kind === 'text') return { role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: piece.text }] };
    if (piece.kind === 'image') return { role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }] };
    if (piece.kind === 'call') return { type: 'function_call', call_id: piece.call.id, name: piece.call.name, arguments: '{"a":1}' };
    if (piece.kind === 'result') return { type: 'function_call_output', call_id: piece.call.id, output: piece.text };
    return {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: piece.text }],
      ...(piece.signature !== null && { encrypted_content: piece.signature }),
    };
  });
}

function betaBlock(piece: Piece): Json {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
  if (piece.kind === 'text') return { type: 'text', text: piece.text, cache_control: { type: 'ephemeral' } };
  if (piece.kind === 'image') return image;
  if (piece.kind === 'call') return { type: 'tool_use', id: piece.call.id, name: piece.call.name, input: { a: 1 } };
  if (piece.kind === 'thinking') return { type: 'thinking', thinking: piece.text, signature: piece.signature ?? '' };
  const content = [{ type: 'text', text: piece.text }, ...(piece.image ? [image] : [])];
  return { type: 'tool_result', tool_use_id: piece.call.id, content, ...(piece.failed && { is_error: true }) };
}

function gammaPart(piece: Piece): Json {
  const image = { inlineData: { mimeType: 'image/png', data: png } };
  if (piece.kind === 'text') return { text: piece.text };
  if (piece.kind === 'image') return image;
  if (piece.kind === 'thinking') return { text: piece.text, thought: true, ...(piece.signature !== null && { thoughtSignature: piece.signature }) };
  const id = piece.call.id === '' ? {} : { id: piece.call.id };
  if (piece.kind === 'call') return { functionCall: { ...id, name: piece.call.name, args: { a: 1 } } };
  return { functionResponse: { ...id, name: piece.call.name, response: { result: piece.text }, ...(piece.image && { parts: [image] }) } };
}

export const printers: Readonly<Record<string, Printer>> = {
  alpha: (steps) => ({
    model: 'm',
    messages: steps.flatMap(alphaMessages),
    tools: toolNames.map((name) => ({ type: 'function', function: { name, parameters } })),
  }),
  alpha_response: (steps) => ({ model: 'm', input: steps.flatMap(responseItems), tools: toolNames.map((name) => ({ type: 'function', name, parameters })) }),
  beta: (steps) => ({
    model: 'm',
    max_tokens: 9000,
    messages: steps.map(({ role, pieces }) => ({ role, content: pieces.map(betaBlock) })),
    tools: toolNames.map((name) => ({ name, input_schema: parameters })),
  }),
  gamma: (steps) => ({
    contents: steps.map(({ role, pieces }) => ({ role: role === 'assistant' ? 'model' : 'user', parts: pieces.map(gammaPart) })),
    tools: [{ functionDeclarations: toolNames.map((name) => ({ name, parameters: { type: 'OBJECT', properties: { a: { type: 'NUMBER' } } } })) }],
  }),
};
