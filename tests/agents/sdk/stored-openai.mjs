/** `openai`, ten turns of which only what is new is sent: the gateway keeps the rest, in a conversation or by the id of the response before. */
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { instructions, key, modelOf, textOrError, tools, turns, url } from './agent-kit.mjs';

const way = process.argv[2];
const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const functions = tools.map(({ name, description, schema }) => ({ type: 'function', name, description, parameters: schema, strict: true }));
const runs = new Map(tools.map(({ name, run }) => [name, run]));
const conversation = way === 'conversations' ? await client.conversations.create() : null;
let previous;

async function ask(turn, input) {
  const kept = conversation ? { conversation: conversation.id } : { previous_response_id: previous };
  const asked = { model: modelOf(turn), instructions, tools: functions, input, store: true, reasoning: { effort: 'medium' }, ...kept };
  const response = way === 'streamed' ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
  previous = response.id;
  return response;
}

let response;
for (let turn = 1; turn <= turns; turn++) {
  response = await ask(turn, `Now turn-${turn}.`);
  for (;;) {
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) break;
    const outputs = calls.map(({ call_id, name, arguments: args }) => ({
      ...{ type: 'function_call_output', call_id },
      output: textOrError(runs.get(name), JSON.parse(args)),
    }));
    response = await ask(turn, outputs);
  }
  console.log(`${turn}: ${response.output_text}`);
}
assert.equal((await client.responses.retrieve(previous)).output_text, response.output_text);
if (conversation) {
  let kept = 0;
  for await (const _item of client.conversations.items.list(conversation.id)) kept++;
  console.log(`kept: ${kept}`);
  await client.conversations.delete(conversation.id);
}
await client.responses.delete(previous);
