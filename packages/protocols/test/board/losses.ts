/** `docs/losses.md`: every loss that a translation can declare, read from the places in this package that declare it. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync } from '@swc/core';
import { noPlace } from '../../src/kit/losses.ts';

const protocols = join(import.meta.dirname, '../../src');

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree is walked freely; what does not look like a declaration is passed over.
type Node = any;

interface Row {
  field: string;
  action: string;
  detail: string;
}

/** Which way a file looks, by the beginning of its name; the first that fits. */
const directions: readonly (readonly [RegExp, string])[] = [
  [/^(?:read-(?:request|messages|contents|content|items|calls|parts|fields)|tools-in)/, 'reading a caller of this protocol'],
  [/^(?:write-response|output-items|seen-items|reply)/, 'answering a caller of this protocol'],
  [/^read-(?:response|output)/, 'hearing an upstream of this protocol'],
  [/^(?:anatomy|earlier-messages)/, 'between two of this protocol'],
  [/^normalize/, 'what the model would refuse'],
  [/./, 'asking an upstream of this protocol'],
];
const directionOf = (file: string): string => directions.find(([pattern]) => pattern.test(file))![1];

const actions = new Set(['dropped', 'downgraded', 'emulated', 'renamed']);

/** The texts that an expression can have; `…` stands for what is only known at run time. */
function texts(node: Node): string[] {
  if (node.type === 'StringLiteral') return [node.value];
  if (node.type === 'ConditionalExpression') return [...texts(node.consequent), ...texts(node.alternate)];
  if (node.type === 'TemplateLiteral') return [node.quasis.map((quasi: Node) => quasi.cooked).join('…')];
  if (node.type === 'ParenthesisExpression') return texts(node.expression);
  return ['…'];
}

/** The last name of `page.losses`, `this.#losses`, `losses`. */
const lastName = (node: Node): string => (node.type === 'MemberExpression' ? lastName(node.property) : (node.value ?? ''));

/** `losses.add(field, action, detail)`, `losses.dropped(field, detail)` and `losses.unread(path, object, known)`, whatever the list is called. */
function readCall(node: Node): Row[] {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression' || !/losses$/i.test(lastName(node.callee.object))) return [];
  const name = lastName(node.callee.property);
  const [field, second, third] = node.arguments.map(({ expression }: Node) => expression);
  if (name === 'dropped' && second) return rows(texts(field), ['dropped'], texts(second));
  if (name === 'unread')
    return rows(
      texts(field).map((path) => (path === '' ? '…' : `${path}.…`)),
      ['dropped'],
      [noPlace],
    );
  if (name !== 'add' || !third) return [];
  return rows(
    texts(field),
    texts(second).filter((word) => actions.has(word)),
    texts(third),
  );
}

/** Alternatives of action and detail belong together when there are as many of each. */
function rows(fields: readonly string[], kinds: readonly string[], details: readonly string[]): Row[] {
  const paired =
    kinds.length === details.length
      ? kinds.map((kind, at) => [kind, details[at]!] as const)
      : kinds.flatMap((kind) => details.map((detail) => [kind, detail] as const));
  return fields.flatMap((field) => paired.map(([action, detail]) => ({ field, action, detail })));
}

function lossesOf(path: string): Row[] {
  const found: Row[] = [];
  const walk = (node: Node): void => {
    if (typeof node !== 'object' || node === null) return;
    if (node.type === 'CallExpression') found.push(...readCall(node));
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', target: 'es2024' }));
  return found;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const sentence = (text: string): string => (text === '…' ? '' : text.replace(/\.$/, ''));

function describeProtocol(id: string): string {
  const byDirection = new Map<string, Set<string>>();
  for (const path of readdirSync(join(protocols, id), { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || path.endsWith('.test.ts')) continue;
    const file = basename(path);
    for (const loss of lossesOf(join(protocols, id, path))) {
      const line = `| \`${cell(loss.field)}\` | ${loss.action} | ${cell(sentence(loss.detail))} |`;
      const direction = directionOf(file);
      byDirection.set(direction, (byDirection.get(direction) ?? new Set()).add(line));
    }
  }
  if (byDirection.size === 0) return '';
  const parts = directions
    .map(([, direction]) => direction)
    .filter((direction) => byDirection.has(direction))
    .map((direction) => `### ${direction}\n\n| field | what happens | why |\n| --- | --- | --- |\n${[...byDirection.get(direction)!].sort().join('\n')}\n`);
  return `## ${id}\n\n${parts.join('\n')}`;
}

/** The page, as it shall be committed. */
export function writeLosses(): string {
  const folders = readdirSync(protocols, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'kit' && entry.name !== 'chat')
    .map((entry) => entry.name)
    .sort();

  return `# What a translation can lose

Generated by \`node scripts/write-losses-doc.mjs\` from the places in \`packages/protocols\` that declare a loss. A request whose two sides speak the
same protocol passes as it is; the rest is translated, and what the other side has no place for is one of these, recorded with the request:

- **dropped**: not sent. **downgraded**: sent as something less. Both count as \`lost\` in the response header \`x-gateway-translation\`
  (\`alpha>beta; lost=2; emulated=1; renamed=1\`), and a key group with \`strict_translation: true\` refuses them with a 400 that names them.
- **emulated**: reached by other means. **renamed**: the same under another name or in another place. Both still mean what was asked.

What only identifies or prices a reply at its vendor is replaced by ours or left out, and is no loss: \`id\`, \`created\`, \`model\`, \`system_fingerprint\`,
\`responseId\`, \`avgLogprobs\`, \`inference_geo\`, the name of the host behind an aggregator, and what it charged. So are ratings of a filter that found nothing.

The row of the request (\`losses\` in \`GET /console/api/logs\`) lists each with its field. \`…\` stands for what is only known of a request;
a key that does not look like a field's name is not repeated there and stands as \`(unnamed)\`. What asking an upstream cannot carry is listed here by neutral names; in the row
it has the name of the caller's own field, where the caller's protocol has one (\`client/caller-fields.ts\`): \`top_k\` is \`generationConfig.topK\`, \`stop\` is \`stop_sequences\`, \`messages\` is \`input\` or \`contents\`.

${folders.map(describeProtocol).filter(Boolean).join('\n')}
## every protocol

| field | what happens | why |
| --- | --- | --- |
| \`response_format\` | downgraded | The answer does not fit the schema that was asked for, where the format was emulated |
| \`max_tokens\` and its other names | downgraded | Raised or limited to what the model takes |
| \`service_tier\` | renamed, dropped | Sent under the vendor’s own name to chat completions and Responses; a tier that it does not have is not sent |
| \`reply.service_tier\` | dropped | The tier that served a reply is told in the caller’s words; a tier for which these have none is not told |
| \`user\` | renamed | Chat completions and Responses refuse ids of users over 64 characters, Anthropic e-mail addresses, telephone numbers and ids over 256: a hash was sent |
| \`messages.image\` | downgraded | A model that is known to read text only gets a note in place of a picture, wherever in the history it stands |
| \`citations\` | dropped | A document whose passages shall be cited, for a model or a wire that is not known to cite documents |
| \`search_result\` | downgraded | A search result, as text that names its source, for a model or a wire that is not known to take search results |
| \`messages.prefill\` | downgraded | A reply that the caller has begun, for a model that would begin anew: it was asked to go on |
| \`models\`, \`route\`, \`fallbacks\`, \`context_window_fallbacks\`, \`content_policy_fallbacks\`, \`providerOptions.gateway.models\` | dropped | Other models that a caller names for its upstream to answer with, between two of one protocol too: a group grants models, and body rules may name further ones |
| \`tool_calls.id\` | renamed | Two calls of one turn shared an id: the later one got its own |
| \`tool_result\` | emulated, downgraded | A call without a result was answered with an error; a result without its call was turned into text |
| \`tools.parameters\` | downgraded | A choice at the root of a tool’s schema became one object, with the choice in words |
| \`thinking\` | downgraded | Thinking was turned off beside a forced call of a tool, at models that refuse one while they think |
| \`tool_choice\` | downgraded | A forced call of a tool became a wish, at models that always think and then refuse one |
| \`safety_identifier\` | renamed, dropped | Kept between chat completions and Responses; a vendor with one id of a user gets it as that one, unless the caller names a user too |
`;
}
