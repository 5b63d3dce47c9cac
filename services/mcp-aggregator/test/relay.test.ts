/** What a server asks the caller of a request, and what becomes of the questions. */
import { expect, test } from '@jest/globals';
import { type Relayed, relay } from '../src/endpoint/relay.ts';
import { type Session, Sessions } from '../src/endpoint/sessions.ts';
import type { Peer, PeerReply, PeerRequest } from '../src/servers/peer.ts';

const claims = { owner: 'key-1', scope: null, version: '2025-11-25', capabilities: '{"elicitation":{}}' };
const answer: PeerReply = { kind: 'result', result: '{"content":[]}' };

/** A request of a caller with a session, at a server that asks twice before `work` is done. */
function ask(work: (session: Session) => Promise<PeerReply>) {
  const session = new Sessions('process-a', () => [Buffer.alloc(32, 1)]).open(claims)!;
  const told: string[] = [];
  const peer = {
    era: 'session',
    info: { version: '2025-11-25', capabilities: {}, instructions: undefined },
    request: ({ onMessage }: PeerRequest) => {
      for (const id of ['1', '2']) onMessage?.({ kind: 'request', id, method: 'elicitation/create', params: '{}' } as never);
      return work(session);
    },
    answer: async (text: string) => void told.push(text),
  } as unknown as Peer;
  const reply = { ended: false, event: () => undefined, left: new AbortController().signal };
  const relayed = { method: 'tools/call', params: '{"name":"t"}', era: 'session', session, reply, signal: reply.left, version: '1', id: '1' };
  return { session, told, done: relay(peer, relayed as unknown as Relayed) };
}

test('an answer of the caller goes to the server, and questions without one are forgotten with the request', async () => {
  const { session, told, done } = ask(async ({ asked }) => {
    const [first] = [...asked.values()];
    expect(asked.size).toBe(2);
    first?.({ kind: 'result', id: '"gw-1"', result: '{"action":"decline"}' });
    return answer;
  });
  await expect(done).resolves.toMatchObject({ kind: 'result' });
  expect(told.map((text) => JSON.parse(text))).toEqual([{ jsonrpc: '2.0', id: 1, result: { action: 'decline' } }]);
  expect(session.asked.size).toBe(0);
});

test('they are forgotten where the server fails, too', async () => {
  const { session, done } = ask(() => Promise.reject(new Error('broken')));
  await expect(done).rejects.toThrow('broken');
  expect(session.asked.size).toBe(0);
});
