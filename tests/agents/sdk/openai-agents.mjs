/** `@openai/agents`, which speaks Responses or chat completions. */
import { Agent, MemorySession, OpenAIProvider, Runner, tool } from '@openai/agents';
import { instructions, keep, kept, key, maxTurns, model, tools, url, work } from './agent-kit.mjs';

const session = new MemorySession({ initialItems: kept() ?? [] });
const isResponses = process.argv[2] === 'responses';
const agent = new Agent({
  name: 'worker',
  instructions,
  model,
  modelSettings: isResponses
    ? { reasoning: { effort: 'medium', summary: 'auto' }, store: false, providerData: { include: ['reasoning.encrypted_content'] } }
    : {},
  tools: tools.map(({ name, description, schema, run }) =>
    tool({
      name,
      description,
      parameters: schema,
      strict: true,
      execute(args) {
        const result = run(typeof args === 'string' ? JSON.parse(args) : args);
        return typeof result === 'string' ? result : { type: 'image', image: { data: result.image, mediaType: 'image/png' } };
      },
    }),
  ),
});
const runner = new Runner({
  modelProvider: new OpenAIProvider({ apiKey: key, baseURL: `${url}/v1`, useResponses: isResponses }),
  tracingDisabled: true,
});

await work(async (words) => {
  const result = await runner.run(agent, words, { stream: true, session, maxTurns });
  try {
    await result.completed;
    return result.finalOutput ?? '';
  } finally {
    keep(await session.getItems());
  }
});
