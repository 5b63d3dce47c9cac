/** The short reading of a whole reply that passes as it is says what the full reading says, whatever the reply looks like. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UpstreamAdapter } from '../../src/contract/index.ts';
import { chatUpstreams } from '../../src/index.ts';
import { describeRecorded } from '../support/describe-recorded.ts';
import { recordingsFolder } from '../support/recordings-folder.ts';

const folder = recordingsFolder;
const target = { baseUrl: 'https://h', directPath: false, upstreamModelId: 'm', neutralHeaders: false, extraConfig: null };
const adapters = chatUpstreams.flatMap(({ id, upstream }) => (upstream.finishedUsage ? [{ id, upstream }] : []));

function agree(upstream: UpstreamAdapter, body: unknown): boolean {
  const short = upstream.finishedUsage?.(body);
  if (short === undefined) return false;
  const events = upstream.readWhole(body, target);
  expect(events.filter(({ type }) => type === 'error')).toEqual([]);
  expect(events.at(-1)).toEqual({ type: 'end' });
  expect(events.findLast((event) => event.type === 'usage')).toMatchObject({ usage: short });
  return true;
}

describeRecorded(existsSync(folder), 'whole replies read for their usage')('recorded replies', () => {
  test.each(adapters)('$id', ({ id, upstream }) => {
    let agreed = 0;
    const files = readdirSync(join(folder, id), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
    for (const file of files) if (agree(upstream, JSON.parse(readFileSync(join(folder, id, file), 'utf8')) as unknown)) agreed++;
    expect(agreed).toBeGreaterThan(5);
  });
});

describe('replies of every kind', () => {
  const junk = fc.oneof(fc.constant(null), fc.constant(''), fc.constant([]), fc.constant({}), fc.constant(0), fc.constant('error'), fc.jsonValue());
  const usage = fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), input_tokens: fc.nat(), output_tokens: fc.nat() }, { requiredKeys: [] });
  const choice = fc.record(
    {
      index: fc.oneof(fc.nat(2), junk),
      message: fc.oneof(fc.record({ role: fc.constant('assistant'), content: fc.string() }), junk),
      finish_reason: fc.oneof(fc.constantFrom('stop', 'length', 'tool_calls', 'error', 'odd'), junk),
    },
    { requiredKeys: [] },
  );
  const body = fc.record(
    {
      id: fc.string(),
      type: fc.oneof(fc.constant('message'), junk),
      choices: fc.oneof(fc.array(choice, { maxLength: 3 }), junk),
      content: fc.oneof(fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })), junk),
      stop_reason: fc.oneof(fc.constantFrom('end_turn', 'max_tokens', 'odd'), junk),
      usage: fc.oneof(usage, junk),
      error: junk,
    },
    { requiredKeys: [] },
  );
  test.each(adapters)('$id', ({ upstream }) => {
    fc.assert(
      fc.property(fc.oneof(body, junk), (value) => void agree(upstream, value)),
      { numRuns: 2000 },
    );
  });
});
