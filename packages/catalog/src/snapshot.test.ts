import { describe, expect, test } from '@jest/globals';
import type { AccessKeyRecord, CatalogRows } from '@model-gateway/contracts';
import { sampleGroup, sampleModel, sampleUpstream } from '../../storage/test/samples.ts';
import { buildSnapshot } from './snapshot.ts';

const key = (name: string, over: Partial<AccessKeyRecord> = {}): AccessKeyRecord => ({
  name,
  group: 'team',
  enabled: true,
  expires_at: null,
  hash: `hash-${name}`,
  ...over,
});

const rows = (over: Partial<CatalogRows> = {}): CatalogRows => ({
  revision: 1,
  upstreams: [{ id: 'u1', ...sampleUpstream({ extra_config: { region: { name: 'here' } } }) }],
  models: [sampleModel({ aliases: ['quick', 'swift'] }), sampleModel({ name: 'hidden', hide_name: true })],
  key_groups: [sampleGroup()],
  access_keys: [key('ada'), key('bob')],
  ...over,
});

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('buildSnapshot', () => {
  test('indexes by name, alias and hash', () => {
    const snapshot = buildSnapshot(rows());
    expect(snapshot.names.get('quick')).toEqual({ model: snapshot.models.get('fast'), canonical: 'fast', via: 'alias' });
    expect(snapshot.names.get('fast')?.via).toBe('canonical');
    expect(snapshot.names.get('hidden')?.via).toBe('canonical');
    expect(snapshot.names.get('toString')).toBeUndefined();
    expect(snapshot.accessKeys.get('hash-bob')?.name).toBe('bob');
    expect(snapshot.upstreams.get('main')?.id).toBe('u1');
    expect(snapshot.keyGroups.get('team')?.models).toEqual(['*']);
  });

  test('is frozen all the way down', () => {
    const snapshot = buildSnapshot(rows());
    const upstream = snapshot.upstreams.get('main')!;
    expect(Object.isFrozen(snapshot)).toBe(true);
    expect(Object.isFrozen(upstream.api_keys[0])).toBe(true);
    expect(Object.isFrozen((upstream.extra_config as { region: object }).region)).toBe(true);
    expect(Object.isFrozen(snapshot.names.get('quick'))).toBe(true);
  });

  test('shares what did not change with its predecessor', () => {
    const first = buildSnapshot(rows());
    const second = buildSnapshot(copy(rows({ revision: 2, access_keys: [key('ada'), key('bob', { enabled: false })] })), first);
    expect(second.revision).toBe(2);
    expect(second.upstreams).toBe(first.upstreams);
    expect(second.models).toBe(first.models);
    expect(second.names).toBe(first.names);
    expect(second.accessKeys).not.toBe(first.accessKeys);
    expect(second.accessKeys.get('hash-ada')).toBe(first.accessKeys.get('hash-ada'));
    expect(second.accessKeys.get('hash-bob')?.enabled).toBe(false);
    expect(first.accessKeys.get('hash-bob')?.enabled).toBe(true);
  });

  test('a removed row is gone although all others are shared', () => {
    const first = buildSnapshot(rows());
    const second = buildSnapshot(copy(rows({ revision: 2, models: [sampleModel({ aliases: ['quick', 'swift'] })] })), first);
    expect(second.names.has('hidden')).toBe(false);
    expect(second.models.get('fast')).toBe(first.models.get('fast'));
  });
});
