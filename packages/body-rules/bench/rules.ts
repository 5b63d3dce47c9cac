/**
 * What body rules cost on bytes that pass verbatim: read whole, and read as far as the rules look. `node packages/body-rules/bench/rules.ts`, about 10
 * seconds; lower quartile of 25, in milliseconds.
 */
import { type BodyRuleInput, bodyRulesSchema } from '@model-gateway/contracts';
import { applyEdits, type Edit, JsonDocument, type Projected, scanBody } from '@model-gateway/json-bytes';
import { applyRules, compileRules, projectionOf } from '../src/index.ts';
import { anatomyOf, facts } from '../test/try-rules.ts';

const bodyOf = (messages: number, size: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: 'example',
      stream: false,
      temperature: 1,
      messages: Array.from({ length: messages }, () => ({ role: 'user', content: 'word '.repeat(size / 5) })),
      top_p: 1,
    }),
  );
const bodies = {
  '200 KB, 20 messages': bodyOf(20, 10_000),
  '200 KB, 400 messages': bodyOf(400, 500),
  '2 MB, 200 messages': bodyOf(200, 10_000),
  '2 MB, 20,000 messages': bodyOf(20_000, 75),
};
const lists: Readonly<Record<string, BodyRuleInput[]>> = {
  'overwrite a value': [{ mode: 'overwrite', path: 'temperature', value: 0.2 }],
  'add a value': [{ mode: 'add-if-absent', path: 'metadata.team', value: 'a' }],
  'remove a value': [{ mode: 'remove', path: 'top_p' }],
  'remove in each message': [{ mode: 'remove', path: 'messages.*.cache_control' }],
  'remove messages by role': [{ mode: 'remove-matching', path: 'messages', condition: { where: [{ path: 'role', equal: 'system' }] } }],
  'inject a system prompt': [{ mode: 'inject-system-prompt', value: 'Be brief.' }],
  'filter images': [{ mode: 'filter-content-types', value: 'image' }],
};
const layout = anatomyOf('alpha');
const model: Edit = { path: ['model'], value: 'upstream-model' };

function time(turn: () => unknown): string {
  const took = Array.from({ length: 25 }, () => {
    const began = performance.now();
    turn();
    return performance.now() - began;
  });
  return (took.sort((a, b) => a - b)[6] ?? 0).toFixed(2);
}

process.stdout.write('| body | rule | whole | in parts |\n| --- | --- | --- | --- |\n');
for (const [size, body] of Object.entries(bodies)) {
  process.stdout.write(`| ${size} | (a parse, a scan) | ${time(() => JSON.parse(body.toString()))} | ${time(() => scanBody(body, { keys: ['model'] }))} |\n`);
  for (const [name, list] of Object.entries(lists)) {
    const rules = compileRules(bodyRulesSchema.parse(list));
    const projection = projectionOf(rules, layout);
    const run = ({ value, places }: Projected): Uint8Array => {
      const document = new JsonDocument(value);
      document.apply([model]);
      applyRules(document, rules, { facts, layout });
      return applyEdits(body, document.edits(), places);
    };
    const whole = time(() => run({ value: JSON.parse(body.toString()), places: undefined }));
    const parts = time(() => run(projection.read(body, [{ path: ['model'], depth: 'place' }])));
    process.stdout.write(`| ${size} | ${name} | ${whole} | ${parts} |\n`);
  }
}
