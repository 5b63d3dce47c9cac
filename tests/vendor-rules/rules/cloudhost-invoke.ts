/** Bedrock's InvokeModel with the messages vendor's body: its rules, but for those of headers and of the body's outer fields. */
import { invokeMessages, unknownKeys } from '../fields.ts';
import { first, isGiven, type Json, list, textOf } from '../read.ts';
import type { Example, VendorRule } from '../rule.ts';
import { betaRules } from './beta.ts';
import { bad, hello, weather } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;
/** Other makers' models have bodies of their own. */
const claude = /^(?:claude|$)/;
const notHere = new Set(['beta.version-header', 'beta.version-sampling', 'beta.version-blocks', 'beta.unknown-field', 'beta.max-tokens', 'beta.budget']);
const ask = (more: Json = {}): Json => ({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 100, messages: hello, ...more });
const serverTools = /^(?:web_search|web_fetch|code_execution|mcp_toolset|advisor)_/;

const own: Row[] = [
  {
    id: 'cloudhost_invoke.version',
    models: claude,
    what: 'A body without anthropic_version',
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) => (isGiven(body['anthropic_version']) ? null : bad('anthropic_version: Field required')),
    refused: [{ body: { max_tokens: 100, messages: hello } }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'cloudhost_invoke.max-tokens',
    models: claude,
    what: 'A body without max_tokens',
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) => (isGiven(body['max_tokens']) ? null : bad('max_tokens: Field required')),
    refused: [{ body: { anthropic_version: 'bedrock-2023-05-31', messages: hello } }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'cloudhost_invoke.unknown-field',
    models: claude,
    what: 'Fields that this host does not know: model, stream, service_tier and what the vendor brought since',
    source: 'https://github.com/anthropics/claude-code/issues/21612',
    date: '2026-01',
    check: ({ body }) => first(unknownKeys(body, invokeMessages), (key) => bad(`${key}: Extra inputs are not permitted`)),
    refused: [{ body: ask({ model: 'claude-opus-4-6' }) }, { body: ask({ stream: true }) }],
    accepted: [{ body: ask({ anthropic_beta: ['context-1m-2025-08-07'] }) }],
  },
  {
    id: 'cloudhost_invoke.server-tool',
    models: claude,
    what: 'Tools that run at the vendor, which this host does not have',
    source: 'https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(list(body['tools']), ({ type }, at) =>
        serverTools.test(textOf(type))
          ? bad(
              `tools.${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'bash_20250124', 'custom', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728'`,
            )
          : null,
      ),
    refused: [{ body: ask({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }) }],
    accepted: [{ body: ask({ tools: [{ name: 'weather', input_schema: weather }] }) }],
  },
];

const asBody = ({ body, ...example }: Example): Example => {
  const { stream: _stream, model: _model, ...rest } = body;
  return { ...example, headers: {}, body: { anthropic_version: 'bedrock-2023-05-31', ...rest } };
};

/** The vendor's rules hold here as well: its own words reach the caller. */
const inherited: Row[] = betaRules
  .filter(({ id }) => !notHere.has(id))
  .map((rule) => ({
    ...rule,
    id: rule.id.replace('beta.', 'cloudhost_invoke.'),
    models: rule.models ?? claude,
    refused: rule.refused.map(asBody),
    // The host has no threads.
    accepted: rule.accepted.filter(({ body }) => body['thread'] === undefined).map(asBody),
  }));

export const invokeRules: VendorRule[] = [...own, ...inherited].map((row) => ({ ...row, protocol: 'cloudhost_invoke' }));
