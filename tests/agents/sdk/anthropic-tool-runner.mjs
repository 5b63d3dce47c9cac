/** The tool runner of `@anthropic-ai/sdk`. */
import Anthropic from '@anthropic-ai/sdk';
import { instructions, keep, kept, key, maxTurns, model, tools, url, work } from './agent-kit.mjs';

const client = new Anthropic({ baseURL: url, apiKey: key });
const runnable = tools.map(({ name, description, schema, run }) => ({
  name,
  description,
  input_schema: schema,
  parse: (args) => args,
  run(args) {
    const result = run(args);
    return typeof result === 'string' ? result : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: result.image } }];
  },
}));

let messages = kept() ?? [];
await work(async (words) => {
  const last = messages.at(-1);
  // The API wants turns to alternate.
  if (last?.role === 'user')
    last.content = [...(typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content), { type: 'text', text: words }];
  else messages.push({ role: 'user', content: words });
  const runner = client.beta.messages.toolRunner({
    model,
    system: instructions,
    max_tokens: 16_000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    tools: runnable,
    messages,
    max_iterations: maxTurns,
    stream: true,
  });
  let text = '';
  try {
    for await (const stream of runner) {
      const message = await stream.finalMessage();
      text = message.content.map((block) => block.text ?? '').join('');
    }
    return text;
  } finally {
    messages = [...runner.params.messages];
    keep(messages);
  }
});
