/**
 * Agents of three teams who work for ten minutes: conversations of several turns with tools, asked of the gateway's own data plane as any client would, so that
 * every figure of the console is a real one.
 */
import { randomUUID } from 'node:crypto';
import { type DemoAgent, demoAgents } from './configuration.ts';

/** Asked at once, so that the pages are not empty when they are first looked at. */
const burst = 60;
const pauseMs = 500;
const workMs = 10 * 60_000;
/** Together, also where the gateway is slow. */
const maxAtOnce = 8;

const tasks = ['Find out why the build fails', 'Summarize the open tickets', 'Write a test for the parser', 'Compare the two proposals', 'Rename the module'];
const tools = [
  { type: 'function', function: { name: 'read_file', description: 'Reads a file', parameters: { type: 'object', properties: { path: { type: 'string' } } } } },
];
/** What an agent reads first: long, so that a provider's cache is worth its while. */
const instructions = 'You are a careful engineer. Read before you change anything, and say what you did. '.repeat(40);

interface Message {
  role: string;
  content: string | null;
  tool_calls?: readonly { id: string }[];
  tool_call_id?: string;
}

interface Session {
  id: string;
  agent: DemoAgent;
  messages: Message[];
}

/** Agents in turn, each as often as its weight says. */
const order = demoAgents
  .flatMap((agent) => Array.from({ length: agent.weight }, (_, index) => ({ agent, at: (index + 0.5) / agent.weight })))
  .sort((a, b) => a.at - b.at);

const openSession = (agent: DemoAgent, number: number): Session => ({
  id: randomUUID(),
  agent,
  messages: [
    { role: 'system', content: instructions },
    { role: 'user', content: tasks[number % tasks.length] ?? '' },
  ],
});

/** `ask`: one request of a session; false when it is over. */
async function takeTurn({ id, agent, messages }: Session, { base, key, signal }: { base: string; key: string; signal: AbortSignal }): Promise<boolean> {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-session-id': id, 'user-agent': 'demo-agent/1.0' },
    body: JSON.stringify({ model: agent.model, messages, tools }),
    signal,
  });
  const body = (await response.json()) as { choices?: { message: Message }[] };
  const answer = body.choices?.[0]?.message;
  if (!answer) return false;
  messages.push(answer);
  for (const { id: call } of answer.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: call, content: 'export const answer = 42;\n'.repeat(20) });
  if (answer.tool_calls === undefined) messages.push({ role: 'user', content: 'Go on.' });
  return messages.length < 12;
}

/** `keys`: value by name. Resolves when the ten minutes are over or `signal` says so; a gateway that stops in between is not a failure. */
export async function runAgents(base: string, keys: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
  const sessions = new Map<string, Session>();
  const running = new Set<Promise<void>>();
  const end = Date.now() + workMs;
  for (let number = 0; !signal.aborted && Date.now() < end; number++) {
    const { agent } = order[number % order.length]!;
    const session = sessions.get(agent.accessKey) ?? openSession(agent, number);
    // Taken out while its turn is under way: a conversation has one turn at a time.
    sessions.delete(agent.accessKey);
    const turn = takeTurn(session, { base, key: keys.get(agent.accessKey) ?? '', signal })
      .then((goesOn) => void (goesOn && sessions.set(agent.accessKey, session)))
      .catch(() => undefined)
      .finally(() => running.delete(turn));
    running.add(turn);
    if (running.size >= maxAtOnce) await Promise.race(running);
    if (number >= burst) await pause(pauseMs, signal);
  }
  await Promise.all(running);
}

/** Ends early with the demo, and keeps no process alive. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
