/** `@mastra/core`: its agent, on the AI SDK's providers. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { instructions, keep, kept, key, maxTurns, model, textOf, tools, url, work } from './agent-kit.mjs';

const baseURL = `${url}/v1`;
const ways = {
  chat: () => createOpenAI({ baseURL, apiKey: key }).chat(model),
  responses: () => createOpenAI({ baseURL, apiKey: key }).responses(model),
  anthropic: () => createAnthropic({ baseURL, apiKey: key })(model),
  google: () => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key })(model),
};
const providerOptions = { openai: { store: false, include: ['reasoning.encrypted_content'] } };
const agent = new Agent({
  id: 'worker',
  name: 'worker',
  instructions,
  model: ways[process.argv[2]](),
  tools: Object.fromEntries(
    tools.map(({ name, description, schema, run }) => {
      const inputSchema = z.object(Object.fromEntries(Object.keys(schema.properties).map((property) => [property, z.string()])));
      return [name, createTool({ id: name, description, inputSchema, execute: async (args) => textOf(run(args)) })];
    }),
  ),
});

const messages = kept() ?? [];
await work(async (words) => {
  messages.push({ role: 'user', content: words });
  const output = await agent.stream(messages, { maxSteps: maxTurns, providerOptions });
  try {
    for await (const part of output.fullStream) if (part.type === 'error') throw part.payload.error;
    return await output.text;
  } finally {
    messages.push(...(output.messageList?.get.response.aiV5.model() ?? []));
    keep(messages);
  }
});
