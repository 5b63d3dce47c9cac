/** Vercel's AI SDK (`ai`): its agent, on each of its own providers. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, jsonSchema, ToolLoopAgent, tool } from 'ai';
import { instructions, keep, kept, key, maxTurns, model, tools, url, work } from './agent-kit.mjs';

const baseURL = `${url}/v1`;
const ways = {
  chat: () => [createOpenAI({ baseURL, apiKey: key }).chat(model), {}],
  responses: () => [
    createOpenAI({ baseURL, apiKey: key }).responses(model),
    { openai: { store: false, include: ['reasoning.encrypted_content'], reasoningEffort: 'medium', reasoningSummary: 'auto' } },
  ],
  anthropic: () => [createAnthropic({ baseURL, apiKey: key })(model), { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } }],
  google: () => [createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key })(model), { google: { thinkingConfig: { includeThoughts: true } } }],
};
const [languageModel, providerOptions] = ways[process.argv[2]]();

const toModelOutput = ({ output }) =>
  typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'content', value: [{ type: 'file', data: { type: 'data', data: output.image }, mediaType: 'image/png' }] };
const agent = new ToolLoopAgent({
  model: languageModel,
  instructions,
  providerOptions,
  stopWhen: isStepCount(maxTurns),
  tools: Object.fromEntries(
    tools.map(({ name, description, schema, run }) => [
      name,
      tool({ description, inputSchema: jsonSchema(schema), execute: async (args) => run(args), toModelOutput }),
    ]),
  ),
});

const messages = kept() ?? [];
await work(async (words) => {
  messages.push({ role: 'user', content: words });
  let failure;
  // Finished steps are kept whatever happens after them.
  const done = [];
  try {
    const result = await agent.stream({ messages, onStepFinish: ({ response }) => void done.push(...response.messages) });
    for await (const part of result.fullStream) if (part.type === 'error') failure = part.error;
    if (failure !== undefined) throw failure;
    return await result.text;
  } finally {
    messages.push(...done);
    keep(messages);
  }
});
