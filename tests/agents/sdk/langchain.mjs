/** LangChain's agent (`langchain`, on `@langchain/langgraph`) on each of its own chat models. */
import { ChatAnthropic } from '@langchain/anthropic';
import { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from '@langchain/core/messages';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { instructions, keep, kept, key, maxTurns, model, textOrError, tools, url, work } from './agent-kit.mjs';

const configuration = { baseURL: `${url}/v1` };
const ways = {
  chat: () => new ChatOpenAI({ model, apiKey: key, configuration, streaming: true, useResponsesApi: false }),
  responses: () =>
    new ChatOpenAI({
      ...{ model, apiKey: key, configuration, streaming: true, useResponsesApi: true, zdrEnabled: true },
      reasoning: { effort: 'medium', summary: 'auto' },
      modelKwargs: { include: ['reasoning.encrypted_content'] },
    }),
  anthropic: () => new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, streaming: true, maxTokens: 16_000, thinking: { type: 'adaptive' } }),
  google: () => new ChatGoogleGenerativeAI({ model, apiKey: key, baseUrl: url, streaming: true }),
};
const agent = createAgent({
  model: ways[process.argv[2]](),
  systemPrompt: instructions,
  checkpointer: new MemorySaver(),
  tools: tools.map(({ name, description, schema, run }) => tool(async (args) => textOrError(run, args), { name, description, schema })),
});

const config = { configurable: { thread_id: 'work' }, recursionLimit: 4 * maxTurns };
const before = kept();
let first = before === null ? [] : mapStoredMessagesToChatMessages(before);
await work(async (words) => {
  const messages = [...first, { role: 'user', content: words }];
  first = [];
  try {
    const end = await agent.invoke({ messages }, config);
    return end.messages.at(-1).text;
  } finally {
    const { values } = await agent.graph.getState(config);
    keep(mapChatMessagesToStoredMessages(values.messages ?? []));
  }
});
