/** What edges send to be stored: searched for secrets, cut, and refused when the database is away. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { buildSnapshot } from '@model-gateway/catalog';
import { type BodiesToKeep, bodyLookAhead, type Snapshot, sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { createLogger, createRedactor, type Redactor } from '@model-gateway/telemetry';
import { keepBodies } from '../src/bodies/keep-bodies.ts';

const lines: string[] = [];
const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } });
const keyring = createKeyring(generateMasterKey());

/** A snapshot whose upstreams have these keys. */
function snapshotWith(revision: number, keys: Record<string, string>, before?: Snapshot): Snapshot {
  const upstreams = Object.entries(keys).map(([name, key]) => {
    const known = before?.upstreams.get(name);
    if (known && keyring.open(known.api_keys[0]!.sealed, sealedAs.upstreamKey(name, 'k')) === key) return known;
    return {
      id: name,
      name,
      custom_headers: { 'x-auth': `Bearer header of ${name}`, 'x-team': 'research' },
      sealed_headers: { 'X-Key': keyring.seal(`Bearer sealed of ${name}`, sealedAs.upstreamHeader(name, 'x-key')) },
      api_keys: [{ id: 'k', weight: 1, sealed: keyring.seal(key, sealedAs.upstreamKey(name, 'k')) }],
    } as unknown as UpstreamRecord;
  });
  return buildSnapshot({ revision, upstreams, models: [], key_groups: [], access_keys: [] });
}

describe('bodies to be stored', () => {
  let bus: Bus;
  let storage: Storage;
  let snapshot: Snapshot;
  let redactor: Redactor;
  beforeEach(async () => {
    lines.length = 0;
    redactor = createRedactor();
    bus = createMemoryBus({ strict: true });
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger });
    await storage.migrate();
    snapshot = snapshotWith(1, { main: 'Apfelstrudel-mit-Sahne' });
  });
  afterEach(() => storage.close());

  const listen = (of: Storage = storage) => keepBodies({ bus, storage: of, logger, redactor, keyring, snapshot: () => snapshot });
  function send(request: string, response: string, over: Partial<BodiesToKeep> = {}): Promise<void> {
    const sent = [Buffer.from(request), Buffer.from(response)] as const;
    const part = (bytes: Buffer) => ({ size: bytes.length, sent: bytes.length, whole: true });
    const facts: BodiesToKeep = {
      id: 'r1',
      startedAt: Date.now(),
      accessKey: 'ada',
      keyGroup: 'team',
      model: 'fast',
      clientProtocol: 'alpha',
      path: '/v1/x',
      stream: false,
      status: 200,
      request: part(sent[0]),
      response: part(sent[1]),
      maxBytes: 1_024,
      ttlHours: 3,
      ...over,
    };
    return new Promise((resolve, reject) => {
      bus.open('stats.keep-bodies', facts, { head: () => {}, data: () => {}, tail: () => resolve(), broken: reject }, { body: Buffer.concat(sent) });
    });
  }

  test('are in the database when the tail comes', async () => {
    listen();
    await send('{"q":"what?"}', '{"a":"that"}');
    const found = await storage.bodies.find('r1');
    expect(found).toMatchObject({ request: { text: '{"q":"what?"}', bytes: 13, truncated: false }, response: { text: '{"a":"that"}' } });
    expect(found!.expires_at - found!.started_at).toBe(3 * 3_600_000);
  });

  test('hold no secret of the configuration as it is now, nor its header values', async () => {
    listen();
    await send('Apfelstrudel-mit-Sahne', 'header of main and research, sealed of main', { path: '/v1/x?a=Apfelstrudel-mit-Sahne' });
    expect(await storage.bodies.find('r1')).toMatchObject({
      path: '/v1/x?a=[redacted]',
      request: { text: '[redacted]' },
      response: { text: '[redacted] and research, [redacted]' },
    });
    snapshot = snapshotWith(2, { main: 'Kaiserschmarrn-mit-Mus', more: 'Zwiebelkuchen-warm' }, snapshot);
    // The old key may still be good where it came from.
    await send('Kaiserschmarrn-mit-Mus Zwiebelkuchen-warm', 'Apfelstrudel-mit-Sahne and more', { id: 'r2' });
    expect(await storage.bodies.find('r2')).toMatchObject({ request: { text: '[redacted] [redacted]' }, response: { text: '[redacted] and more' } });
  });

  test('wait for the configuration that the edge had, and are not stored without it', async () => {
    const later = snapshotWith(2, { main: 'Kaiserschmarrn-mit-Mus' }, snapshot);
    let arrived = false;
    keepBodies({
      bus,
      storage,
      logger,
      redactor,
      keyring,
      snapshot: async (revision) => {
        if (revision > 2) throw new GatewayError('service_unavailable');
        arrived = true;
        return revision === 2 ? later : snapshot;
      },
    });
    await send('Kaiserschmarrn-mit-Mus', 'x', { revision: 2 });
    expect([arrived, (await storage.bodies.find('r1'))?.request.text]).toEqual([true, '[redacted]']);
    await expect(send('a', 'b', { id: 'r3', revision: 3 })).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await storage.bodies.find('r3')).toBeNull();
  });

  test('a key that does not open is said and does not stop the rest', async () => {
    const record = [...snapshotWith(1, { other: 'a' }).upstreams.values()][0]!;
    const broken = { ...record, api_keys: [{ id: 'k', weight: 1, sealed: 'v1:nobody:knows' }] };
    snapshot = buildSnapshot({ revision: 9, upstreams: [broken, ...snapshot.upstreams.values()], models: [], key_groups: [], access_keys: [] });
    listen();
    await send('Apfelstrudel-mit-Sahne', 'x');
    expect((await storage.bodies.find('r1'))?.request.text).toBe('[redacted]');
    expect(lines.filter((line) => line.includes('does not open'))).toHaveLength(1);
  });

  test('a secret at any place around a cut leaves no piece of itself', async () => {
    listen();
    const secret = 'Apfelstrudel-mit-Sahne';
    for (const [index, at] of [1_024 - secret.length, 1_024 - 10, 1_023, 1_024, 1_024 + bodyLookAhead - 10].entries()) {
      // As an edge sends it: the cap, the look-ahead, and the rest cut off wherever it is.
      const text = `${'x '.repeat(at / 2)}${secret}${' y'.repeat(40_000)}`.slice(0, 1_024 + bodyLookAhead);
      const id = `cut-${index}`;
      await send(text, '', { id, request: { size: 90_000, sent: text.length, whole: false } });
      const { request } = (await storage.bodies.find(id))!;
      expect(request.text).not.toContain('Apfel');
      expect(request).toMatchObject({ bytes: 90_000, truncated: true });
      expect(request.text.length).toBeLessThanOrEqual(1_024);
    }
  });

  test('a database that is away refuses them, and nothing is tried again', async () => {
    const away = async () => {
      throw new GatewayError('service_unavailable');
    };
    listen({ ...storage, bodies: { ...storage.bodies, insert: away } });
    await expect(send('a', 'b')).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await storage.bodies.find('r1')).toBeNull();
  });
});
