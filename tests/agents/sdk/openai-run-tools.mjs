/** `runTools` of the `openai` library, on chat completions. */
import OpenAI from 'openai';
import { instructions, keep, kept, key, maxTurns, model, textOrError, tools, url, work } from './agent-kit.mjs';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
const runnable = tools.map(({ name, description, schema, run }) => ({
  type: 'function',
  function: { name, description, parameters: schema, parse: JSON.parse, function: (args) => textOrError(run, args) },
}));

let messages = kept() ?? [{ role: 'system', content: instructions }];
await work(async (words) => {
  messages.push({ role: 'user', content: words });
  const runner = client.chat.completions.runTools({ model, messages, tools: runnable, stream: true }, { maxChatCompletions: maxTurns });
  try {
    return (await runner.finalContent()) ?? '';
  } finally {
    messages = runner.messages;
    keep(messages);
  }
});
