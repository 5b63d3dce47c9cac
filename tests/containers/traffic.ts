/** Callers of several edges, who stream all the time and note how each call ended. */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';

/** Of the one access key that the suites make. */
export const accessKey = 'container-key-of-a-caller-0123';

/** `whole`: to its end. `told`: an ending in the protocol, or a refusal that says why. `cut`: the connection broke. `refused`: no connection. `wrong`: anything else. */
export type Ending = 'whole' | 'told' | 'cut' | 'refused' | 'wrong';

export interface Call {
  id: string;
  edge: string;
  ending: Ending;
  /** What came, for a failure's message. */
  detail: string;
}

export function streamOnce(edge: string, key: string): Promise<Call> {
  const id = randomUUID();
  return new Promise((resolve) => {
    let text = '';
    let status = 0;
    const end = (ending: Ending, detail = text.slice(-300)): void => resolve({ id, edge, ending, detail: `${status} ${detail}` });
    const call = request(`${edge}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'z-request-id': id },
    });
    call.on('error', (error) => end(status === 0 ? 'refused' : 'cut', String(error)));
    call.on('response', (reply) => {
      status = reply.statusCode ?? 0;
      reply.setEncoding('utf8');
      reply.on('data', (chunk: string) => {
        text += chunk;
      });
      reply.on('error', (error) => end('cut', String(error)));
      reply.on('end', () => {
        // A stream that lost a part of the gateway is ended as cut short, with a warning beside it.
        if (status === 200)
          return end(/"error"|"_gateway_warning"/.test(text) ? 'told' : text.includes('word20') && text.trimEnd().endsWith('data: [DONE]') ? 'whole' : 'wrong');
        end([429, 502, 503, 504].includes(status) && text.includes('"error"') ? 'told' : 'wrong');
      });
    });
    call.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }));
  });
}

/** `callers` at once, each on the next edge, until it is stopped; who is refused goes to another edge. */
export function startTraffic(edges: () => readonly string[], key: string, callers = 8): { calls: Call[]; stop(): Promise<Call[]> } {
  const calls: Call[] = [];
  let stopped = false;
  const caller = async (number: number): Promise<void> => {
    for (let turn = number; !stopped; turn++) {
      const all = edges();
      const call = await streamOnce(all[turn % all.length] as string, key);
      calls.push(call);
      // A caller whose connection is refused waits a moment, as SDKs do.
      if (call.ending === 'refused') await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const running = Array.from({ length: callers }, (_, number) => caller(number));
  return {
    calls,
    async stop() {
      stopped = true;
      await Promise.all(running);
      return calls;
    },
  };
}

/** How many of each. */
export const count = (calls: readonly Call[]): Record<Ending, number> => {
  const sums = { whole: 0, told: 0, cut: 0, refused: 0, wrong: 0 };
  for (const { ending } of calls) sums[ending]++;
  return sums;
};

/** At most `most` of the calls that were answered to their end, from first to last: versions and processes change in between. */
export function sampleOfWhole(calls: readonly Call[], most: number): Call[] {
  const whole = calls.filter(({ ending }) => ending === 'whole');
  const step = Math.max(1, whole.length / most);
  return Array.from({ length: Math.min(most, whole.length) }, (_, at) => whole[Math.floor(at * step)] as Call);
}
