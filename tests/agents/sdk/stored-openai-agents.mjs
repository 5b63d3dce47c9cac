/** `@openai/agents`, ten turns of which only what is new is sent: the gateway keeps the rest, in a conversation or by the id of the response before. */
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { instructions, key, maxTurns, modelOf, tools, turns, url } from './agent-kit.mjs';

const conversations = process.argv[2] === 'conversations';
const streamed = process.argv[2] === 'previous';
const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const agent = new Agent({
  name: 'worker',
  instructions,
  model: modelOf(1),
  modelSettings: { store: true, reasoning: { effort: 'medium', summary: 'auto' } },
  tools: tools.map(({ name, description, schema, run }) =>
    tool({ name, description, parameters: schema, strict: true, execute: (args) => run(typeof args === 'string' ? JSON.parse(args) : args) }),
  ),
});
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }), tracingDisabled: true });
const session = conversations ? new OpenAIConversationsSession({ client }) : undefined;

let previousResponseId;
for (let turn = 1; turn <= turns; turn++) {
  const options = { maxTurns, ...(session ? { session } : { previousResponseId }) };
  const result = await runner.run(agent.clone({ model: modelOf(turn) }), `Now turn-${turn}.`, { ...options, stream: streamed });
  if (streamed) await result.completed;
  previousResponseId = result.lastResponseId;
  console.log(`${turn}: ${result.finalOutput}`);
}
if (session) {
  const items = await session.getItems();
  console.log(`kept: ${items.length}`);
  await session.clearSession();
}
