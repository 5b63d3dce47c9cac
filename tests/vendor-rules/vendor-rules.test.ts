/** Every row refuses what it says, and takes what lies close to it; and nothing that a vendor was recorded to take is refused. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { fixturesDirectory, haveFixtures, readCase } from '../fake-upstream/fixtures.ts';
import { judgeExample } from './examples.ts';
import { findRefusals, type Judged, rules, trustingMemory, type Vendor } from './index.ts';
import { bodyOf } from './judge.ts';
import { withTable } from './table.ts';

test('rows have ids of their own, a source and a date', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const { id, protocol, what, source, date } of rules) {
    expect(id.startsWith(`${protocol}.`)).toBe(true);
    expect(what.length).toBeGreaterThan(10);
    expect(source).toMatch(/^(?:https:\/\/\S+|recorded: [a-z_]+\/[a-z0-9-]+)/);
    expect(date).toMatch(/^20\d\d(?:-\d\d(?:-\d\d)?)?$/);
    if (source.startsWith('recorded: ') && haveFixtures()) expect(existsSync(join(fixturesDirectory(), source.slice(10)))).toBe(true);
  }
});

test('the page holds the rows of today: node scripts/write-vendor-rules-doc.mjs', () => {
  const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  expect(page).toBe(withTable(page));
});

describe.each(rules.map((rule) => [rule.id, rule] as const))('%s', (_id, rule) => {
  test('refuses', () => {
    expect(rule.refused.length).toBeGreaterThan(0);
    for (const example of rule.refused)
      expect({ example, by: judgeExample(rule, example).map(({ rule: id }) => id) }).toEqual({
        example,
        by: expect.arrayContaining([rule.id]),
      });
  });
  test('takes', () => {
    expect(rule.accepted.length).toBeGreaterThan(0);
    for (const example of rule.accepted) expect({ example, refusals: judgeExample(rule, example) }).toEqual({ example, refusals: [] });
  });
});

const hosts: readonly (readonly [RegExp, Vendor])[] = [
  [/^api\.openai\.com$/, 'openai'],
  [/^api\.deepseek\.com$/, 'deepseek'],
  [/^api\.mistral\.ai$/, 'mistral'],
  [/^api\.x\.ai$/, 'xai'],
  [/^api\.moonshot\./, 'moonshot'],
  [/dashscope/, 'qwen'],
];
const protocols = ['alpha', 'alpha_response', 'beta', 'gamma', 'cloudhost_converse', 'cloudhost_invoke', 'delta', 'cloudhost_ide_streaming'] as const;

/** Generations alone: files, tasks and embeddings have other bodies. */
const generates = /chat\/completions|\/responses$|\/messages|generateContent|GenerateContent|\/converse|\/invoke|\/generation$|generateAssistantResponse|^\/$/;

const lowerCase = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));

interface Recorded {
  name: string;
  protocol: ProtocolId;
  judged: Judged;
}

function recordedOf(protocol: ProtocolId): Recorded[] {
  return readdirSync(join(fixturesDirectory(), protocol)).flatMap((name) =>
    readCase(protocol, name).flatMap((exchange): Recorded[] => {
      const { status, path, query, request } = exchange;
      // One of them was refused inside a stream that began with 200.
      if (name.startsWith('err-') || status !== 200 || !request?.file?.endsWith('.json') || !generates.test(path)) return [];
      const body = bodyOf(readFileSync(join(fixturesDirectory(), protocol, name, request.file), 'utf8'));
      const host = (exchange as { vendor_host?: string }).vendor_host ?? '';
      const inPath = /\/models?\/([^/:]+(?::\d+)?)/.exec(decodeURIComponent(path))?.[1];
      const modelId = typeof body['model'] === 'string' ? body['model'] : (inPath ?? '');
      const owner = protocol === 'alpha' || protocol === 'alpha_response' ? (hosts.find(([pattern]) => pattern.test(host))?.[1] ?? 'other') : undefined;
      // Recorders keep some headers only; this one was there, or the answer would have been another.
      const headers: Record<string, string> = { ...(protocol === 'beta' && { 'anthropic-version': '2023-06-01' }), ...lowerCase(request.headers) };
      if (/ListAvailable/.test(headers['x-amz-target'] ?? '')) return [];
      return [{ name: `${protocol}/${name}/${exchange.n}`, protocol, judged: { modelId, headers, body, path: path + query, ...(owner && { vendor: owner }) } }];
    }),
  );
}

(haveFixtures() ? describe : describe.skip)('requests that a vendor was recorded to answer', () => {
  test.each(protocols)('%s', (protocol) => {
    const recorded = recordedOf(protocol);
    expect(recorded.length).toBeGreaterThan(5);
    expect(
      recorded.flatMap(({ name, judged: request }) => findRefusals(protocol, request, trustingMemory).map(({ rule, message }) => ({ name, rule, message }))),
    ).toEqual([]);
  });
});

/** Of those that the vendor was recorded to refuse, the ones that rows speak of: others are about keys, quotas, lengths and unknown models. */
(haveFixtures() ? test : test.skip).each([
  ['alpha', 'err-400-unsupported', 'alpha.openai.system-role'],
  ['beta', 'err-400', 'beta.effort'],
  ['gamma', 'err-400-field', 'gamma.temperature'],
] as const)('%s/%s is refused in the recorded words', (protocol, name, rule) => {
  const [exchange] = readCase(protocol, name);
  const read = (file: string) => bodyOf(readFileSync(join(fixturesDirectory(), protocol, name, file), 'utf8'));
  const body = read(exchange!.request.file);
  const inPath = /\/models\/([^/:]+)/.exec(exchange!.path)?.[1] ?? '';
  const judgedBody: Judged = { modelId: String(body['model'] ?? inPath), headers: { 'anthropic-version': '2023-06-01' }, body, path: exchange!.path };
  const refusal = findRefusals(protocol, judgedBody, trustingMemory).find(({ rule: id }) => id === rule);
  expect(refusal).toMatchObject({ status: exchange!.status, message: (read(exchange!.response.file)['error'] as { message: string }).message });
});
