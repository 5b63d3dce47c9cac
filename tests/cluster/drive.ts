/** The run of `run.sh`: each step says what it promises, and what happened. */
import { randomUUID } from 'node:crypto';
import { accessKey, type Call, count, sampleOfWhole, startTraffic, streamOnce } from '../containers/traffic.ts';
import { Cluster } from './cluster.ts';
import { callThroughSdk, followNotes } from './first-call.ts';

const mode = /^mode=(.+)$/.exec(process.argv[2] ?? '')?.[1] ?? 'services';
/** Its image is installed first, where the arrangement existed then and a rollout keeps old pods beside new ones. */
const previous = mode === 'services' ? process.env['PREVIOUS_IMAGE'] : undefined;
/** Whose pods take callers' connections, and whose hold rows that are not delivered. */
const [facing, working] = mode === 'services' ? ['edge', 'translator'] : [mode, mode];
const cluster = new Cluster(`gwtest-${randomUUID().slice(0, 6)}`, mode);
const results: { step: string; promise: string; kept: boolean; seen: string }[] = [];

function note(step: string, promise: string, kept: boolean, seen: string): void {
  results.push({ step, promise, kept, seen });
  process.stdout.write(`${kept ? 'kept  ' : 'BROKEN'} ${step}: ${promise}; ${seen}\n`);
}

/** How many ended how, and a few that were not whole in their own words. */
function summary(calls: readonly Call[]): string {
  const details = calls.filter(({ ending }) => ending !== 'whole').slice(0, 3);
  return [JSON.stringify(count(calls)), ...details.map(({ detail }) => `\n       ${detail.slice(-240).replaceAll('\n', ' ')}`)].join('');
}

const ended = (calls: readonly Call[], ...endings: Call['ending'][]): number => calls.filter(({ ending }) => endings.includes(ending)).length;

/** Streams of two seconds each: so many callers begin more than fifty a second where the machine can. */
const [few, many] = [8, 160];

/** Runs `action` with so many callers, and until some calls were whole again after it. */
async function underLoad(action: () => Promise<unknown>, callers = few): Promise<Call[]> {
  const traffic = startTraffic(() => [cluster.url], accessKey, callers);
  await cluster.until(() => traffic.calls.length > 8, 'the first calls');
  await action();
  const before = traffic.calls.length;
  await cluster.until(() => ended(traffic.calls.slice(before), 'whole') > 8, 'whole calls after the step');
  return traffic.stop();
}

/** Rows of calls that were answered to their end: each once. How many of some are not, and how many messages the store of rows refused. */
async function rowsOnce(step: string, calls: readonly Call[]): Promise<void> {
  const sample = sampleOfWhole(calls, 40);
  const oncePerCall = async (): Promise<boolean[]> => Promise.all(sample.map(async ({ id }) => (await cluster.rows(id)) === 1));
  await cluster.until(async () => (await oncePerCall()).every(Boolean), 'every row', 60_000).catch(() => undefined);
  const wrong = (await oncePerCall()).filter((once) => !once).length;
  const refused = await cluster.deadLetters();
  note(step, 'rows exactly once', wrong === 0 && refused === 0, `${wrong} of ${sample.length} wrong, ${refused} messages set aside`);
}

async function firstCalls(): Promise<void> {
  const text = await callThroughSdk(cluster);
  note('a call through the official SDK', 'the stream is whole', text.includes('word1 ') && text.includes('word20'), `${text.length} characters`);
  const said = await followNotes(cluster).catch((error: unknown) => String(error));
  note(
    "the notes' commands",
    'as printed they lead to a streamed reply',
    said.includes('word20') && said.includes('[DONE]'),
    said.slice(-60).replaceAll('\n', ' '),
  );
}

/** All services at once, as Helm replaces them: for a while each version talks with the other. */
async function upgradeFromPrevious(): Promise<void> {
  const calls = await underLoad(() => cluster.upgrade());
  const lost = ended(calls, 'wrong', 'cut', 'refused', 'told');
  note(`helm upgrade from ${previous}`, 'no request fails while both versions serve', lost === 0, summary(calls));
  const images = await cluster.images();
  note(`helm upgrade from ${previous}`, 'afterwards every pod is of the new image', images.length === 1 && images[0] !== previous, images.join(', '));
  await rowsOnce(`helm upgrade from ${previous}`, calls);
}

async function restarts(): Promise<void> {
  for (const workload of await cluster.workloads()) {
    const isPublic = /-(?:edge|data-plane)$/.test(workload);
    const begun = performance.now();
    const calls = await underLoad(() => cluster.restart(workload), isPublic ? many : few);
    // Of the time in which streams end: the first ones take two seconds.
    const rate = Math.round((calls.length / (performance.now() - begun - 2000)) * 1000);
    // Two processes may not have one database file: the one pod goes before the next comes.
    const alone = mode === 'single';
    const lost = ended(calls, 'wrong', 'cut', ...(alone ? [] : ['refused' as const]));
    const promise = alone ? 'every stream ends validly' : 'every stream ends validly, no connection is refused';
    note(`rolling restart of ${workload}`, promise, lost === 0, `${rate} streams a second; ${summary(calls)}`);
  }
}

/** In which order a public pod leaves: the cluster forgets it, and then it drains. */
async function leaving(component: string): Promise<void> {
  const { forgottenAt, drainingAt } = await cluster.leave(component);
  const seen = `${((drainingAt - forgottenAt) / 1000).toFixed(1)} s between`;
  note(`a pod of ${component} leaves`, 'it leaves the endpoints of its service before it drains', forgottenAt < drainingAt, seen);
}

async function kills(): Promise<void> {
  for (const component of await cluster.components()) {
    const calls = await underLoad(() => cluster.kill(component));
    const isPublic = component === facing;
    const lost = ended(calls, 'wrong') + (isPublic ? 0 : ended(calls, 'cut', 'refused'));
    note(`killed pod of ${component}`, isPublic ? 'only its own connections break' : 'no connection breaks', lost === 0, summary(calls));
    await rowsOnce(`killed pod of ${component}`, calls);
  }
}

async function evictions(): Promise<void> {
  const answers = await cluster.evictAll(facing);
  note('drain of a node', 'the disruption budget lets one public pod go at a time', answers.allowed === 1 && answers.refused >= 1, JSON.stringify(answers));
}

/** With NATS away what a pod holds goes with it, and is counted in its log. */
async function outbox(): Promise<void> {
  const traffic = startTraffic(() => [cluster.url], accessKey);
  await cluster.until(() => ended(traffic.calls, 'whole') > 8, 'whole calls');
  await cluster.scaleNats(true);
  const [text] = await Promise.all([cluster.logsOfLeaving(working), traffic.stop()]);
  const held = /durable messages stay in the outbox/.test(text);
  note('pod deleted with NATS away', 'what it could not deliver is counted in the last lines of its log', held, held ? 'counted' : 'NOT in its log');
  await cluster.scaleNats(false);
  await cluster.until(async () => (await streamOnce(cluster.url, accessKey)).ending === 'whole', 'whole calls after NATS is back');
}

try {
  const began = performance.now();
  await cluster.install(previous);
  note('installation', 'all pods ready', true, `${Math.round((performance.now() - began) / 1000)} s`);
  await cluster.configure();
  await cluster.until(async () => (await streamOnce(cluster.url, accessKey)).ending === 'whole', 'a first whole call');
  if (previous) await upgradeFromPrevious();
  await firstCalls();
  const kept = await cluster.secretsKeptOverUpgrade();
  note('helm upgrade with the same values', 'the generated Secrets stay as they are', kept, kept ? 'unchanged' : 'CHANGED');
  await restarts();
  await kills();
  if (mode !== 'single') {
    await leaving(facing);
    await evictions();
    await outbox();
  }
} finally {
  if (process.env['KEEP'] !== '1') await cluster.remove();
}
const broken = results.filter(({ kept }) => !kept).length;
process.stdout.write(`${results.length} promises, ${broken} broken\n`);
process.exit(broken === 0 ? 0 : 1);
