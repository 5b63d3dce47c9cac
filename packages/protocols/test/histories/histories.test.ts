/** Law: whatever history a caller sends, the upstream gets one that its vendor takes. `FUZZ_RUNS`: histories over all pairs. */
import { describe, expect, test } from '@jest/globals';
import { isGatewayError } from '@model-gateway/contracts/errors';
import { ask } from '../board/cross.ts';
import { createRandom } from '../fuzz/mutate.ts';
import { speakers, target, upstreams } from '../laws/harness.ts';
import { makeHistory } from './make.ts';
import { printers } from './print.ts';
import { rules } from './rules.ts';

const models: Readonly<Record<string, string>> = {
  alpha: 'gpt-5.1',
  alpha_response: 'gpt-5.1',
  beta: 'claude-opus-4-5',
  gamma: 'gemini-3-pro-preview',
  cloudhost_converse: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  delta: 'qwen-plus',
};
const runs = Number(process.env['FUZZ_RUNS'] ?? 6000);
const pairs = speakers.flatMap((client) => Object.keys(models).flatMap((id) => (id === client.id ? [] : [[client.id, id] as const])));
const runsOfPair = Math.max(1, Math.round(runs / pairs.length));

describe.each(pairs)('%s to %s', (clientId, upstreamId) => {
  const client = speakers.find(({ id }) => id === clientId)!;
  const upstream = upstreams.find(({ id }) => id.split(',')[0] === upstreamId)!;
  const pair = { client, upstream: { ...upstream, target: { ...target, upstreamModelId: models[upstreamId]! } } };

  /** What is wrong with what the upstream gets; null: the caller was refused. */
  const faultsOf = (body: object): string[] | null => {
    try {
      return rules[upstreamId]!(JSON.parse(ask(pair, body).text));
    } catch (error) {
      if (isGatewayError(error) && error.status === 400) return null;
      throw error;
    }
  };

  test(`${runsOfPair} histories`, () => {
    let sent = 0;
    for (let seed = 1; seed <= runsOfPair; seed++) {
      const body = printers[clientId]!(makeHistory(createRandom(seed), clientId === 'beta' || clientId === 'alpha_response'));
      const faults = faultsOf(body);
      if (faults === null) continue;
      sent++;
      expect({ seed, faults }).toEqual({ seed, faults: [] });
    }
    expect(sent).toBeGreaterThan(runsOfPair / 2);
  });
});
