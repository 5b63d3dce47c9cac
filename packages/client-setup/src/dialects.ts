/** A minimal working call in each API dialect of the gateway. */
import type { Dialect, SetupFacts } from './setup.ts';

/** A complete HTTP POST request: address, headers and JSON body. */
export interface SmallCall {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** One API dialect that the gateway speaks, with a minimal call in it. */
export interface DialectDescription {
  title: string;
  call: (facts: SetupFacts, prompt: string) => SmallCall;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** Names may hold anything but control characters; the slash stays readable where the path allows it. */
const inPath = (model: string): string => encodeURIComponent(model).replaceAll('%2F', '/');

export const dialects: Readonly<Record<Dialect, DialectDescription>> = {
  chat: {
    title: 'Chat completions (OpenAI)',
    call: ({ baseUrl, key, model }, prompt) => ({
      url: `${baseUrl}/v1/chat/completions`,
      headers: bearer(key),
      body: { model, messages: [{ role: 'user', content: prompt }] },
    }),
  },
  responses: {
    title: 'Responses (OpenAI)',
    call: ({ baseUrl, key, model }, prompt) => ({ url: `${baseUrl}/v1/responses`, headers: bearer(key), body: { model, input: prompt } }),
  },
  messages: {
    title: 'Messages (Anthropic)',
    call: ({ baseUrl, key, model }, prompt) => ({
      url: `${baseUrl}/v1/messages`,
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: { model, max_tokens: 1024, messages: [{ role: 'user', content: prompt }] },
    }),
  },
  generate: {
    title: 'Generate content (Gemini)',
    call: ({ baseUrl, key, model }, prompt) => ({
      url: `${baseUrl}/v1beta/models/${inPath(model)}:generateContent`,
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
    }),
  },
};
