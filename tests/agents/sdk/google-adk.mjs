/** `@google/adk`, on generate-content. */
import { FunctionTool, Gemini, InMemorySessionService, LlmAgent, Runner, stringifyContent } from '@google/adk';
import { instructions, keep, kept, key, maxTurns, model, textOf, tools, url, work } from './agent-kit.mjs';

// Its own address cannot be given to the library otherwise.
process.env.GOOGLE_GEMINI_BASE_URL = url;
const agent = new LlmAgent({
  name: 'worker',
  instruction: instructions,
  model: new Gemini({ model, apiKey: key }),
  tools: tools.map(
    ({ name, description, schema, run }) =>
      new FunctionTool({
        name,
        description,
        parameters: { ...schema, additionalProperties: undefined },
        execute: async (args) => ({ result: textOf(run(args)) }),
      }),
  ),
});
const sessionService = new InMemorySessionService();
const [appName, userId, sessionId] = ['work', 'user', 'session'];
const session = await sessionService.createSession({ appName, userId, sessionId });
for (const event of kept() ?? []) await sessionService.appendEvent({ session, event });
const runner = new Runner({ appName, agent, sessionService });

await work(async (words) => {
  let text = '';
  try {
    const newMessage = { role: 'user', parts: [{ text: words }] };
    for await (const event of runner.runAsync({ userId, sessionId, newMessage, runConfig: { maxLlmCalls: maxTurns } })) {
      if (event.errorCode) throw new Error(`${event.errorCode}: ${event.errorMessage}`);
      if (!event.partial) text = stringifyContent(event);
    }
    return text;
  } finally {
    keep((await sessionService.getSession({ appName, userId, sessionId })).events);
  }
});
