/** `@strands-agents/sdk` on each of its models but Bedrock's. */
import { Agent, tool } from '@strands-agents/sdk';
import { AnthropicModel } from '@strands-agents/sdk/models/anthropic';
import { GoogleModel } from '@strands-agents/sdk/models/google';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { instructions, keep, kept, key, model, textOf, tools, url, work } from './agent-kit.mjs';

const clientConfig = { baseURL: `${url}/v1` };
const ways = {
  chat: () => new OpenAIModel({ api: 'chat', modelId: model, apiKey: key, clientConfig }),
  responses: () => new OpenAIModel({ api: 'responses', modelId: model, apiKey: key, clientConfig }),
  anthropic: () => new AnthropicModel({ modelId: model, apiKey: key, clientConfig: { baseURL: url }, maxTokens: 16_000 }),
  google: () => new GoogleModel({ modelId: model, apiKey: key, clientConfig: { httpOptions: { baseUrl: url } } }),
};
const agent = new Agent({
  model: ways[process.argv[2]](),
  systemPrompt: instructions,
  messages: kept() ?? [],
  printer: false,
  tools: tools.map(({ name, description, schema, run }) => tool({ name, description, inputSchema: schema, callback: (args) => textOf(run(args)) })),
});

await work(async (words) => {
  try {
    const { lastMessage } = await agent.invoke(words);
    return lastMessage.content.map((block) => block.text ?? '').join('');
  } finally {
    keep(agent.messages.map((message) => message.toJSON()));
  }
});
