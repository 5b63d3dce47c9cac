/** Request bodies of a wanted size in the shape of each client protocol. */

export type Dialect = 'openai' | 'anthropic' | 'responses' | 'embeddings' | 'embeddings-batch' | 'speech';

export interface BodyOptions {
  dialect: Dialect;
  /** Bytes of the whole JSON text, about. */
  size: number;
  stream: boolean;
  model: string;
  /** Responses alone: whether the reply is to be kept. */
  store?: boolean;
}

const sentence = 'Tell me about the weather in Paris, "s\'il vous plait". \\ Line\n';
const system = 'You are a helpful assistant.';

const shapes: Record<Dialect, (text: string, options: BodyOptions) => object> = {
  openai: (text, { model, stream }) => ({
    model,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    max_tokens: 512,
    temperature: 0.5,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: text },
    ],
  }),
  anthropic: (text, { model, stream }) => ({
    model,
    max_tokens: 512,
    ...(stream && { stream: true }),
    system,
    messages: [{ role: 'user', content: text }],
  }),
  responses: (text, { model, stream, store = false }) => ({
    model,
    ...(stream && { stream: true }),
    max_output_tokens: 512,
    store,
    instructions: system,
    input: [{ role: 'user', content: text }],
  }),
  embeddings: (text, { model }) => ({ model, input: text, encoding_format: 'base64' }),
  'embeddings-batch': (text, { model }) => ({ model, input: inputsOf(text), encoding_format: 'base64' }),
  speech: (text, { model }) => ({ model, input: text, voice: 'alloy', response_format: 'pcm' }),
};

/** Inputs of about a kilobyte each. */
const inputsOf = (text: string): string[] => text.match(/.{1,1000}/gs) ?? [text];

export function makeBody(options: BodyOptions): Buffer {
  const build = (length: number): string => JSON.stringify(shapes[options.dialect](fill(length), options));
  const frame = build(0).length;
  const wanted = Math.max(1, options.size - frame);
  // Escaping makes the text grow; one correction lands close to the asked size.
  const grown = build(wanted).length - frame;
  return Buffer.from(build(Math.max(1, Math.round((wanted * wanted) / Math.max(1, grown)))));
}

const fill = (length: number): string => sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);
