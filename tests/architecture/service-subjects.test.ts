/** The table of subjects (`packages/contracts`), which the bus server's permissions are made of, against what the services' sources do. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compositions, type ServiceName, type ServiceSubjects, serviceSubjects } from '@model-gateway/contracts';

const root = join(import.meta.dirname, '../..');
const textOf = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'))
    .join('\n');

/** What a service does through a package of its layer below: with a snapshot of the configuration, and with questions to all processes. */
const through = {
  watcher: textOf('packages/catalog/src/watcher'),
  source: textOf('packages/catalog/src/source'),
  gather: readFileSync(join(root, 'packages/bus/src/gather.ts'), 'utf8'),
};

const said: Record<keyof ServiceSubjects, RegExp> = {
  // Questions to the store of turns go through one function each (`askStore`, `open`).
  calls: /\.(?:ask|open)\(\s*'([a-z-]+\.[a-z-]+)'|\b(?:askStore|open)\(bus, '([a-z-]+\.[a-z-]+)'/g,
  serves:
    /^\s*(?:ask: \{ |open: \{ )?'([a-z-]+\.[a-z-]+)': (?:async )?[({\w]|serve\(\{ (?:ask|open): \{ '([a-z-]+\.[a-z-]+)':|serveAs\([\w.#]+, \{ '([a-z-]+\.[a-z-]+)':/gm,
  publishes: /\.(?:publish|publishDurable)\(\s*'([a-z-]+\.[a-z-]+)'/g,
  listens: /\.listen\(\s*'([a-z-]+\.[a-z-]+)'/g,
  commits: /\.listenDurably\(\s*'([a-z-]+\.[a-z-]+)'/g,
};
const subjects = new Set(Object.values(serviceSubjects).flatMap((one: ServiceSubjects) => Object.values(one).flat() as string[]));
/** `serves` finds keys of any object: only subjects count. Of the other verbs every text is one. */
const found = (verb: keyof ServiceSubjects, text: string): string[] => {
  const all = [...new Set([...text.matchAll(said[verb])].map(([, ...names]) => names.find((name) => name !== undefined) ?? ''))];
  return verb === 'serves' ? all.filter((subject) => subjects.has(subject)) : all;
};

const single = (Object.keys(serviceSubjects) as ServiceName[]).filter((name) => !Object.hasOwn(compositions, name));

test.each(Object.entries(compositions))('%s: uses what its parts use of others, and answers all that they answer', (name, parts) => {
  const own: ServiceSubjects = serviceSubjects[name as keyof typeof compositions];
  const all = (verb: keyof ServiceSubjects): string[] => [...new Set(parts.flatMap((part): readonly string[] => serviceSubjects[part][verb]))];
  // One of them may read sealed values, so that all share what it reads.
  const shared = ['catalog.load-redacted', 'catalog.changed-redacted'];
  expect([...own.serves].sort()).toEqual(all('serves').sort());
  expect([...own.publishes].sort()).toEqual(all('publishes').sort());
  expect([...own.listens].sort()).toEqual(
    all('listens')
      .filter((subject) => !shared.includes(subject))
      .sort(),
  );
  const within = all('serves').filter((subject) => subject !== 'edge.stream');
  expect([...own.calls].sort()).toEqual(
    all('calls')
      .filter((subject) => !shared.includes(subject) && !within.includes(subject))
      .sort(),
  );
});

describe.each(single)('%s', (service) => {
  const own = textOf(`services/${service}/src`);
  const below = service === 'console' ? [through.source, through.gather] : [through.watcher, through.gather];

  test.each(Object.keys(said) as (keyof ServiceSubjects)[])('%s: what its sources do is in the table, and the table has nothing beyond', (verb) => {
    const listed: readonly string[] = serviceSubjects[service][verb];
    expect(found(verb, own).filter((subject) => !listed.includes(subject))).toEqual([]);
    const possible = [own, ...below].flatMap((text) => found(verb, text));
    expect(listed.filter((subject) => !possible.includes(subject))).toEqual([]);
  });
});
