/** Each service is a user of its own on the server and may use its subjects, nothing else; what is missing is logged by name. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { dispensableSubjects, earlierSubjects, type ServiceName, type ServiceSubjects, serviceSubjects, type TurnFinished } from '@model-gateway/contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { sampleAsks, sampleOpens } from '../../../tests/support/bus-samples.ts';
import { findNatsServer, type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type NatsUsers, writeNatsUsers } from '../../../tests/support/nats-users.ts';
import { type Bus, type BusLogger, connectNatsBus, describeNatsServer, passwordVariable } from '../src/index.ts';
import { connectionOptions } from '../src/nats/connection-options.ts';
import { dispensableFrames } from '../src/nats/permissions.ts';
import { mintInbox } from '../src/nats/subjects.ts';
import { nothingFor, openRecorded, row, until } from './support.ts';

const services = Object.keys(serviceSubjects) as ServiceName[];

test('deploy/nats/nats.conf is up to date (node scripts/write-nats-conf.mjs)', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../deploy/nats/nats.conf'), 'utf8')).toBe(describeNatsServer());
});

test('nobody is let near the system, other streams, or inboxes that are not its own', () => {
  const text = describeNatsServer();
  expect(text).not.toMatch(/"(>|\*|\$SYS.*|\$JS\.>|\$JS\.API\.>|gw\.>|gw\.v1\.>)"/);
  for (const [, subject] of text.matchAll(/"(\$JS[^"]*)"/g))
    expect(subject).toMatch(/\.gw_news(\.(stats-request|stats-tool|audit-record|audit-violation|audit-tool|turns-finished)(\.>)?)?$/);
  expect(passwordVariable('script-runner')).toBe('NATS_SCRIPT_RUNNER_PASSWORD');
});

/** The configuration of the version before the subjects that services do without: neither they, nor their consumer, nor inboxes for them alone. */
function withoutDispensable(present: string): string {
  const text = Object.entries(earlierSubjects).reduce((whole, [now, before]) => whole.replaceAll(`"gw.v1.${now}"`, `"gw.v1.${before}"`), present);
  const names = dispensableSubjects.join('|').replaceAll('.', '\\.');
  const lines = text.split('\n').filter((line) => !new RegExp(`"gw\\.v1\\.(${names})(\\.\\*)?"|gw_news\\.turns-finished[."]`).test(line));
  return services.reduce((whole, service) => {
    const begin = whole.indexOf(`user: "${service}"`);
    const end = whole.indexOf('user: "', begin + 1);
    const section = whole.slice(begin, end < 0 ? undefined : end);
    const without = dispensableFrames(service).reduce((left, frame) => left.replace(new RegExp(` +"${frame.replaceAll(/[.*]/g, '\\$&')}"\n`), ''), section);
    return whole.replace(section, () => without);
  }, lines.join('\n'));
}

const finished: TurnFinished = {
  turn: {
    ...{ id: 'resp_1', owner: 'k', parent: null, conversation: null, model: 'm', createdAt: 1, background: false, holder: 't', requestId: 'r' },
    status: 'completed',
  },
  authority: 2,
  content: '',
};

const available = natsAvailable('permissions over NATS') && findNatsServer() !== null;

(available ? describe : describe.skip)('on a server with a user for each service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nats-users-'));
  let users: NatsUsers;
  let server: NatsServer;
  const external = process.env['NATS_URL'];
  const open: (Bus | NatsConnection)[] = [];

  beforeAll(async () => {
    // This suite is about a server of its own.
    delete process.env['NATS_URL'];
    users = writeNatsUsers(folder);
    server = await startNatsServer(users.server);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => ('drain' in one && 'ask' in one ? one.drain() : one.close())));
  });
  afterAll(async () => {
    await server?.dispose();
    rmSync(folder, { recursive: true, force: true });
    if (external !== undefined) process.env['NATS_URL'] = external;
  });

  interface Line {
    level: string;
    text: string;
    facts: { missing?: string[]; violation?: string; error?: unknown };
  }
  async function busOf(service: ServiceName, url = users.urlFor(server.url, service), required = true): Promise<{ bus: Bus; lines: Line[] }> {
    const lines: Line[] = [];
    const onMessage = (level: string) => (facts: object, text: string) => void lines.push({ level, text, facts });
    const logger: BusLogger = { info: () => undefined, warn: onMessage('warn'), error: onMessage('error') };
    const bus = await connectNatsBus({ url, name: service, logger, drainMs: 200, permissions: { service, required } });
    open.push(bus);
    return { bus, lines };
  }
  const rawOf = async (service: string): Promise<NatsConnection> => {
    const connection = await connect(connectionOptions({ url: users.urlFor(server.url, service), name: service }));
    open.push(connection);
    return connection;
  };
  /** What the server refuses of these, in its own words. */
  async function refusals(connection: NatsConnection, wanted: number, attempt: () => void): Promise<string[]> {
    const refused: string[] = [];
    const status = connection.status();
    void (async () => {
      for await (const one of status) if (one.type === 'error') refused.push(one.error.message);
    })();
    attempt();
    await connection.flush();
    await until(() => refused.length >= wanted, `${wanted} refusals`).catch(() => undefined);
    return refused;
  }

  test.each(services)('%s: is connected, and nothing that it needs is refused', async (service) => {
    const { bus, lines } = await busOf(service);
    const { serves, listens, commits } = serviceSubjects[service];
    bus.serve({
      ask: Object.fromEntries(serves.map((subject) => [subject, () => ({})])) as never,
      open: {},
    });
    for (const subject of listens) bus.listen(subject as 'router.outcome', () => undefined);
    for (const subject of commits) bus.listenDurably(subject, async () => undefined);
    await until(() => bus.connected, 'it connects');
    await until(() => !lines.some(({ level }) => level === 'error'), 'no complaint', 500);
    expect(lines).toEqual([]);
  });

  test('a password that changed while it was connected is told once, however often it is tried, and so is whatever else keeps the server away', async () => {
    const { bus, lines } = await busOf('edge');
    await until(() => bus.connected, 'it connects');
    const reasons = (): string[] =>
      lines.filter(({ text }) => text.includes('cannot be reached: see to it, or to NATS_URL')).map(({ facts }) => String(facts.error));
    const before = readFileSync(users.file, 'utf8');
    await server.kill();
    await until(() => reasons().some((why) => why.includes('refused')), 'the reason: nobody listens');
    writeFileSync(users.file, before.replace(`$${passwordVariable('edge')}`, '"another"'));
    await server.start();
    const refusals = (): string[] => reasons().filter((why) => why.startsWith('AuthorizationError'));
    await until(() => refusals().length > 0, 'the reason: the password');
    await nothingFor(1500);
    expect(refusals()).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain(new URL(users.urlFor(server.url, 'edge')).password);
    expect(bus.connected).toBe(false);
    await server.kill();
    writeFileSync(users.file, before);
    await server.start();
    await until(() => bus.connected, 'it connects again');
  });

  test('asks, streams and durable events work from end to end between users', async () => {
    const { bus: edge } = await busOf('edge');
    const { bus: consoleBus } = await busOf('console');
    const { bus: stats } = await busOf('stats');
    const kept: string[] = [];
    stats.listenDurably('stats.request', async (batch) => void kept.push(...batch.map(({ id }) => id)), { maxWaitMs: 5 });
    consoleBus.serve({
      ask: { 'catalog.revision': () => ({ revision: 7 }) },
      open: {
        'catalog.load-redacted': (_request, body, stream) => {
          stream.head({ revision: 7 });
          // More than a window of credit, so that it has to be given back.
          for (let at = 0; at < 8; at++) stream.data(new Uint8Array(100_000));
          stream.tail({ bytes: body.length });
        },
      },
    });
    await until(() => edge.connected && consoleBus.connected && stats.connected, 'all connect');
    await until(() => consoleBus.connected, 'the console serves');
    let revision = 0;
    await until(() => {
      edge.ask('catalog.revision', {}).then(
        (reply) => {
          ({ revision } = reply);
        },
        () => undefined,
      );
      return revision === 7;
    }, 'an answer');
    // A body of several frames, and a reply of several windows.
    const got = openRecorded(edge, 'catalog.load-redacted', {}, { body: new Uint8Array(700_000) });
    await got.ended;
    expect([got.error, got.bytes, got.tail]).toEqual([null, 800_000, { bytes: 700_000 }]);
    await edge.publishDurable('stats.request', 'row-1', row('row-1'));
    await until(() => kept.includes('row-1'), 'the row to be committed');
  });

  test('without a user of the server there is no way in', async () => {
    for (const credentials of ['', 'edge:wrong@', 'nobody:x@', 'token@']) {
      const url = server.url.replace('://', `://${credentials}`);
      await expect(connect({ ...connectionOptions({ url, name: 'edge' }), maxReconnectAttempts: 0, ignoreAuthErrorAbort: false })).rejects.toThrow(
        /[Aa]uthorization/,
      );
    }
  });

  test('a user that was taken over receives nothing of others and cannot act as another service', async () => {
    const runner = await rawOf('script-runner');
    const edgeInbox = mintInbox('edge');
    const nothing = () => undefined;
    const subscribed = [
      '>',
      'gw.>',
      'gw.v1.>',
      `${edgeInbox}.>`,
      'gw.v1.inbox.>',
      '_INBOX.>',
      'gw.v1.translator.run',
      'gw.v1.stats.request',
      '$SYS.>',
      '$JS.>',
    ];
    const published = [
      'gw.v1.audit.record',
      'gw.v1.stats.request',
      'gw.v1.router.plan',
      'gw.v1.catalog.changed',
      'gw.v1.catalog.changed-redacted',
      'gw.v1.catalog.load',
      'gw.v1.console.user-changed',
      'gw.v1.router.outcome',
      `${edgeInbox}.f`,
      '$JS.API.STREAM.INFO.gw_news',
      '$JS.API.STREAM.DELETE.gw_news',
      '$JS.API.STREAM.PURGE.gw_news',
      '$JS.API.STREAM.CREATE.other',
      '$JS.API.CONSUMER.CREATE.gw_news.thief',
      '$SYS.REQ.SERVER.PING',
    ];
    const refused = await refusals(runner, subscribed.length + published.length, () => {
      for (const subject of subscribed) runner.subscribe(subject, { callback: nothing });
      for (const subject of published) runner.publish(subject, '{}');
    });
    expect(refused).toEqual([
      ...subscribed.map((subject) => expect.stringContaining(`Subscription to "${subject}"`)),
      ...published.map((subject) => expect.stringContaining(`Publish to "${subject}"`)),
    ]);
  });

  test('an edge writes no record of the audit log but violations of access keys', async () => {
    const edge = await rawOf('edge');
    const refused = await refusals(edge, 1, () => {
      edge.publish('gw.v1.audit.violation', '[]');
      edge.publish('gw.v1.audit.record', '[]');
    });
    expect(refused).toEqual([expect.stringContaining('Publish to "gw.v1.audit.record"')]);
  });

  test('not even the keepers of the store may delete, purge or read past their consumers', async () => {
    for (const service of ['stats', 'edge', 'translator', 'console', 'router']) {
      const connection = await rawOf(service);
      const refused = await refusals(connection, 6, () => {
        for (const verb of ['STREAM.DELETE', 'STREAM.PURGE', 'STREAM.MSG.GET', 'STREAM.SNAPSHOT']) connection.publish(`$JS.API.${verb}.gw_news`, '');
        connection.publish('$JS.API.CONSUMER.CREATE.gw_news.thief', '');
        connection.publish('$JS.API.ACCOUNT.PURGE.GATEWAY', '');
      });
      expect([service, refused.length]).toEqual([service, 6]);
    }
  });

  test('a permission that lacks is named, the service is not connected, and is once it is given', async () => {
    const whole = readFileSync(users.file, 'utf8');
    // Until the server has taken it over it answers by the old text, and drops connections in between as not authorized.
    const loadedAt = async (): Promise<string> => ((await (await fetch(`${server.monitorUrl}/varz`)).json()) as { config_load_time: string }).config_load_time;
    const give = async (text: string): Promise<void> => {
      const before = await loadedAt();
      writeFileSync(users.file, text);
      process.kill(server.pid as number, 'SIGHUP');
      while ((await loadedAt()) === before) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    // Of the router: its own subject and one of its calls.
    const begin = whole.indexOf('user: "router"');
    const end = whole.indexOf('user: "translator"');
    const poorer = whole.slice(begin, end).replace(/ +"gw\.v1\.(catalog\.load-redacted|router\.plan)"\n/g, '');
    try {
      await give(whole.slice(0, begin) + poorer + whole.slice(end));
      const { bus, lines } = await busOf('router');
      bus.serve({ ask: { 'router.plan': () => sampleAsks['router.plan'].reply } });
      await until(() => lines.length > 0, 'the complaint');
      expect(lines[0]).toMatchObject({ level: 'error', text: expect.stringContaining('refuses what this service needs') });
      expect([...(lines[0]!.facts.missing ?? [])].sort()).toEqual(['publish gw.v1.catalog.load-redacted', 'subscribe gw.v1.router.plan']);
      expect(bus.connected).toBe(false);
      await give(whole);
      await until(() => bus.connected, 'it connects');
      // The subject that was refused is allowed now.
      const { bus: edge } = await busOf('edge');
      let answered = false;
      await until(() => {
        if (edge.connected)
          edge.ask('router.plan', sampleAsks['router.plan'].request).then(
            () => (answered = true),
            () => undefined,
          );
        return answered;
      }, 'an answer of the router');
    } finally {
      await give(whole);
    }
  });

  test('with the permissions of the version before a subject that can be done without, its services connect and name it', async () => {
    const earlier = mkdtempSync(join(tmpdir(), 'nats-users-'));
    const theirs = writeNatsUsers(earlier);
    writeFileSync(theirs.file, withoutDispensable(readFileSync(theirs.file, 'utf8')));
    const older = await startNatsServer(theirs.server);
    try {
      const consoleBus = await busOf('console', theirs.urlFor(older.url, 'console'));
      const runner = await busOf('script-runner', theirs.urlFor(older.url, 'script-runner'));
      consoleBus.bus.serve({ ask: { 'catalog.scripts': () => ({ scripts: 1 }), 'catalog.revision': () => ({ revision: 5 }) } });
      runner.bus.serve({ ask: {}, open: { 'script.run': (_request, _body, stream) => stream.whole(sampleOpens['script.run'].head, new Uint8Array(0), {}) } });
      await until(() => consoleBus.bus.connected && runner.bus.connected, 'both connect');
      await expect(runner.bus.ask('catalog.scripts', {}, { deadlineMs: 300 })).rejects.toMatchObject({ code: 'timeout' });
      await openRecorded(consoleBus.bus, 'script.run', sampleOpens['script.run'].request).ended;
      expect(consoleBus.bus.connected && runner.bus.connected).toBe(true);
      for (const { lines: said } of [consoleBus, runner])
        expect(said).toContainEqual({
          level: 'warn',
          text: expect.stringContaining('renew the permissions'),
          facts: { missing: expect.arrayContaining([expect.stringContaining('catalog.scripts')]) },
        });
    } finally {
      await older.dispose();
      rmSync(earlier, { recursive: true, force: true });
    }
  });

  test.each(services)('%s: with the permissions of the version before stored turns it connects, warns, and does without', async (service) => {
    const earlier = mkdtempSync(join(tmpdir(), 'nats-users-'));
    const theirs = writeNatsUsers(earlier);
    writeFileSync(theirs.file, withoutDispensable(readFileSync(theirs.file, 'utf8')));
    const older = await startNatsServer(theirs.server);
    try {
      const { bus, lines } = await busOf(service, theirs.urlFor(older.url, service));
      const { serves, listens, commits, publishes } = serviceSubjects[service] as ServiceSubjects;
      bus.serve({ ask: Object.fromEntries(serves.map((subject) => [subject, () => ({})])) as never, open: {} });
      for (const subject of listens) bus.listen(subject as 'turns.alive', () => undefined);
      for (const subject of commits) bus.listenDurably(subject, async () => undefined);
      await until(() => bus.connected, 'it connects');
      // What the server does not take is refused to its sender at once, and the other events are committed.
      if (publishes.includes('turns.finished'))
        await expect(bus.publishDurable('turns.finished', 'turn-1', finished)).rejects.toMatchObject({ code: 'service_unavailable' });
      const { bus: stats } = await busOf('stats', theirs.urlFor(older.url, 'stats'));
      const kept: string[] = [];
      stats.listenDurably('stats.request', async (batch) => void kept.push(...batch.map(({ id }) => id)), { maxWaitMs: 5 });
      // Rows of tool calls go where that version's went.
      const published = publishes.filter((subject) => subject === 'stats.request' || subject === 'stats.tool');
      for (const subject of published) await bus.publishDurable(subject, subject, row(subject));
      await until(() => kept.length === published.length, 'the rows to be committed');
      expect(kept).toEqual(published);
      expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
      expect(bus.connected).toBe(true);
    } finally {
      await Promise.all(open.splice(0).map((one) => ('drain' in one && 'ask' in one ? one.drain() : one.close())));
      await older.dispose();
      rmSync(earlier, { recursive: true, force: true });
    }
  });

  test('with the permissions of an earlier version, which let nobody choose among processes, the bus works and says what lacks', async () => {
    const earlier = mkdtempSync(join(tmpdir(), 'nats-users-'));
    const theirs = writeNatsUsers(earlier);
    writeFileSync(theirs.file, readFileSync(theirs.file, 'utf8').replace(/ +"gw\.v1\.[a-z-]+\.[a-z-]+\.\*"\n/g, ''));
    const older = await startNatsServer(theirs.server);
    try {
      const router = await busOf('router', theirs.urlFor(older.url, 'router'));
      const edge = await busOf('edge', theirs.urlFor(older.url, 'edge'));
      router.bus.serve({ ask: { 'router.plan': () => sampleAsks['router.plan'].reply } });
      await until(() => router.bus.connected && edge.bus.connected, 'both connect');
      let answers = 0;
      await until(() => {
        edge.bus.ask('router.plan', sampleAsks['router.plan'].request).then(
          () => answers++,
          () => undefined,
        );
        return answers >= 20;
      }, 'answers');
      for (const { lines } of [router, edge]) expect(lines).toEqual([{ level: 'warn', text: expect.stringContaining('choose among processes'), facts: {} }]);
    } finally {
      await Promise.all(open.splice(0).map((one) => ('drain' in one && 'ask' in one ? one.drain() : one.close())));
      await older.dispose();
      rmSync(earlier, { recursive: true, force: true });
    }
  });

  test('an account that may keep no events is one warning, however often it is tried, and rows come once it may', async () => {
    const home = mkdtempSync(join(tmpdir(), 'nats-users-'));
    const theirs = writeNatsUsers(home);
    const whole = readFileSync(theirs.file, 'utf8');
    writeFileSync(theirs.file, whole.replace('jetstream: enabled', 'jetstream: disabled'));
    const bare = await startNatsServer(theirs.server);
    try {
      const { bus, lines } = await busOf('stats', theirs.urlFor(bare.url, 'stats'));
      const rows: string[] = [];
      bus.listenDurably('stats.request', async (batch) => void rows.push(...batch.map(({ id }) => id)));
      bus.listenDurably('audit.record', async () => undefined);
      const toldOf = (text: string) => lines.filter((line) => line.text.startsWith(text));
      await until(() => toldOf('durable events cannot be read yet').length === 2, 'both listeners to have tried');
      bus.listenDurably('audit.violation', async () => undefined);
      await until(() => toldOf('durable events cannot be read yet').length === 3, 'a later listener to have tried');
      await until(() => bus.stats().refusedListeners > 0, 'the bus to say that it gets no events');
      expect(bus.connected).toBe(true);
      await bare.kill();
      writeFileSync(theirs.file, whole);
      await bare.start();
      const { bus: edge } = await busOf('edge', theirs.urlFor(bare.url, 'edge'));
      await edge.publishDurable('stats.request', 'r1', row('r1'));
      await until(() => rows.length > 0, 'the row');
      await until(() => bus.stats().refusedListeners === 0, 'the bus to say that it gets events');
      const reasons = toldOf('the event stream cannot be configured').map(({ facts }) => String(facts.error));
      expect(reasons.filter((reason) => reason.includes('JetStream not enabled'))).toHaveLength(1);
    } finally {
      await Promise.all(open.splice(0).map((one) => ('drain' in one && 'ask' in one ? one.drain() : one.close())));
      await bare.dispose();
      rmSync(home, { recursive: true, force: true });
    }
  });

  test('an open server is a warning, and no bus at all where permissions are required', async () => {
    const opened = await startNatsServer();
    try {
      const lenient = await busOf('translator', opened.url, false);
      await until(() => lenient.bus.connected, 'it connects');
      expect(lenient.lines).toEqual([{ level: 'warn', text: expect.stringContaining('more than it needs'), facts: {} }]);
      const strict = await busOf('translator', opened.url, true);
      await until(() => strict.lines.length > 0, 'the refusal');
      expect(strict.lines[0]).toMatchObject({ level: 'error', text: expect.stringContaining('NATS_PERMISSIONS=require') });
      expect(strict.bus.connected).toBe(false);
    } finally {
      await opened.dispose();
    }
  });

  test('the server itself accepts the configuration', () => {
    expect(() => execFileSync(findNatsServer()!, ['-t', '-c', users.file], { env: { ...process.env, ...users.server.env }, stdio: 'pipe' })).not.toThrow();
  });
});
