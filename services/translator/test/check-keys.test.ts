import { expect, test } from '@jest/globals';
import { sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { createKeyCheck } from '../src/check-keys.ts';

const [own, other] = [createKeyring(generateMasterKey()), createKeyring(generateMasterKey())];
const upstream = (name: string, keyring = own): UpstreamRecord =>
  ({
    id: `id-${name}`,
    name,
    api_keys: [{ id: 'k', weight: 1, sealed: keyring.seal('sk-canary-0123456789', sealedAs.upstreamKey(`id-${name}`, 'k')) }],
  }) as never;
const snapshotOf = (...upstreams: UpstreamRecord[]) => ({ upstreams: new Map(upstreams.map((one) => [one.name, one])) });

test('keys that another master key sealed are reported with their upstreams, each once', () => {
  const lines: { upstreams: string[]; count: number; error: Error }[] = [];
  const check = createKeyCheck(own, { error: (facts: object) => void lines.push(facts as never) } as never);
  const [good, lost] = [upstream('good'), upstream('lost', other)];
  check(snapshotOf(good));
  expect(lines).toEqual([]);
  check(snapshotOf(good, lost));
  check(snapshotOf(lost, upstream('better')));
  expect(lines).toEqual([{ upstreams: ['lost'], count: 1, error: expect.objectContaining({ message: expect.stringContaining('GATEWAY_MASTER_KEY') }) }]);
  expect(JSON.stringify(lines)).not.toContain('canary');
  check(snapshotOf(lost, upstream('also-lost', other)));
  expect(lines[1]).toMatchObject({ upstreams: ['also-lost'] });
});
