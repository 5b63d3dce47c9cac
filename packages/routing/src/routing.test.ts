/** Names, grants, lists, key order, plans and targets over small snapshots. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ask, freshState, group, model, snapshotOf, upstream } from '../test/samples.ts';
import { buildPlan, isGranted, listedNames, matchesWildcard, resolveName, resolveTarget } from './index.ts';

const context = () => ({ state: freshState(), now: 0 });

describe('names', () => {
  const snapshot = snapshotOf(
    [model('open', { aliases: ['also'] }), model('hidden', { hide_name: true, aliases: ['mask'] }), model('off', { enabled: false, aliases: ['off-too'] })],
    [upstream('up')],
  );
  test.each(['open', 'also', 'mask'])('%s resolves', (name) => {
    expect(resolveName(snapshot, name).model?.enabled).toBe(true);
  });
  test.each(['hidden', 'off', 'off-too', 'nothing', 'OPEN', '__proto__'])('%s is a 404', (name) => {
    expect(() => resolveName(snapshot, name)).toThrow(expect.objectContaining({ code: 'model_not_found', status: 404 }));
  });
  test('lists hide canonical names and disabled models, and show only what is granted by canonical name', () => {
    expect(listedNames(snapshot, group(['*'])).map((one) => one.name)).toEqual(['open', 'also', 'mask']);
    expect(listedNames(snapshot, group(['mask'])).map((one) => one.name)).toEqual([]);
    expect(isGranted(group(['hid*']), 'hidden')).toBe(true);
  });
});

describe('wildcards', () => {
  test.each([
    ['*', 'a/b:c', true],
    ['a*c', 'abc', true],
    ['a*c', 'abcd', false],
    ['*-mini*', 'gpt-5-mini-2', true],
    ['a.c', 'abc', false],
    ['', '', true],
  ])('%s on %s is %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });
  test('a pattern made to be slow is not', () => {
    const started = process.cpuUsage();
    expect(matchesWildcard('*a'.repeat(100), `${'a'.repeat(199)}b`)).toBe(false);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
  });
  test('agrees with the equivalent regular expression', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '*') }), fc.string({ unit: fc.constantFrom('a', 'b') }), (pattern, text) => {
        expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
      }),
    );
  });
});

describe('plans', () => {
  const keyed = upstream('up', {
    api_keys: [
      { id: 'a', sealed: 's', weight: 2 },
      { id: 'b', sealed: 't', weight: 0 },
      { id: 'c', sealed: 'u', weight: 2, account: 'acc' },
    ],
  });
  test('the same caller always begins with the same key, another may not, and a standby is last', () => {
    const snapshot = snapshotOf([model('m', { aliases: ['also'] })], [keyed]);
    const first = (accessKey: string) => buildPlan(snapshot, { ...ask('also'), accessKey }, context()).nodes[0]!.keys;
    expect(first('caller-1')).toEqual(first('caller-1'));
    expect(new Set(Array.from({ length: 50 }, (_, index) => first(`caller-${index}`).join()))).toEqual(new Set(['0,2,1', '2,0,1']));
    expect(buildPlan(snapshot, ask('also'), context())).toMatchObject({ revision: 7, model: 'm', balanced: false });
  });
  test('a target without what the attempt names is refused, never sent without its key', () => {
    const snapshot = snapshotOf([model('m')], [keyed]);
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: 2 }).key).toEqual({ id: 'c', sealed: 'u', weight: 2, account: 'acc' });
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: -1 }).key).toBeNull();
    for (const attempt of [
      { model: 'm', upstream: 'up', keyIndex: 3 },
      { model: 'm', upstream: 'gone', keyIndex: -1 },
      { model: 'gone', upstream: 'up', keyIndex: 0 },
    ])
      expect(() => resolveTarget(snapshot, attempt)).toThrow(expect.objectContaining({ code: 'no_upstream', status: 503 }));
  });
  test('a target inherits what the model leaves open, and joins extra_config with the model’s on top', () => {
    const snapshot = snapshotOf(
      [model('m', { extra_config: { region: 'b', async_mode: true } })],
      [upstream('up', { extra_config: { region: 'a', kept: 1 }, timeouts: { idle_ms: 5 }, neutral_headers: true })],
    );
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: -1 })).toMatchObject({
      protocol: 'alpha',
      target: {
        baseUrl: 'https://h',
        directPath: false,
        upstreamModelId: 'real-m',
        neutralHeaders: true,
        extraConfig: { region: 'b', kept: 1, async_mode: true },
      },
      tokenCounting: 'upstreamApi',
      timeouts: { idle_ms: 5 },
    });
  });
  test('one attempt without keys, one a key otherwise', () => {
    const snapshot = snapshotOf(
      [model('m'), model('n', { upstream: 'two' })],
      [
        upstream('up'),
        upstream('two', {
          api_keys: [
            { id: 'a', sealed: 's', weight: 1 },
            { id: 'b', sealed: 't', weight: 0 },
          ],
        }),
      ],
    );
    expect(buildPlan(snapshot, ask('m'), context()).nodes).toEqual([{ model: 'm', upstream: 'up', keys: [-1] }]);
    expect(buildPlan(snapshot, ask('n'), context()).nodes[0]!.keys).toEqual([0, 1]);
  });
  test('a disabled upstream is a 503', () => {
    const snapshot = snapshotOf([model('m')], [upstream('up', { enabled: false })]);
    expect(() => buildPlan(snapshot, ask('m'), context())).toThrow(expect.objectContaining({ status: 503 }));
  });
  test('at an upstream that the model has left, nothing of its way to the new one holds', () => {
    const snapshot = snapshotOf(
      [model('m', { upstream: 'new', protocol: 'beta', base_url: 'https://other', direct_path: true, extra_config: { region: 'b' } })],
      [upstream('new'), upstream('up', { api_keys: [{ id: 'a', sealed: 's', weight: 1 }] })],
    );
    expect(resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: 0 })).toMatchObject({
      protocol: 'alpha',
      target: { baseUrl: 'https://h', directPath: false, extraConfig: null },
      key: { id: 'a' },
    });
  });
  test('a model overrides protocol, address and id; the credential stays the upstream’s', () => {
    const snapshot = snapshotOf(
      [model('m', { protocol: 'beta', base_url: 'https://other', direct_path: true, inference_profile: 'profile', token_counting: 'tiktoken' })],
      [upstream('up', { api_keys: [{ id: 'a', sealed: 's', weight: 1 }] })],
    );
    const route = resolveTarget(snapshot, { model: 'm', upstream: 'up', keyIndex: 0 });
    expect(route).toMatchObject({
      protocol: 'beta',
      target: { baseUrl: 'https://other', directPath: true, upstreamModelId: 'profile' },
      tokenCounting: 'tiktoken',
      key: { id: 'a' },
    });
  });
});
