/** An upstream in this process whose streams send one event when asked, so that no two events are joined on a busy machine. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dialectOfPath, type MockDialect, streamFrames, wholeReply } from './mock-replies.ts';

/** Events before the first word, by dialect. */
const lead: Record<MockDialect, number> = { openai: 1, anthropic: 3, responses: 4 };

export interface SteppedUpstream {
  url: string;
  /** The stream whose request holds this name sends its next event. */
  step(name: string): void;
  /** Streams that have not ended. */
  readonly open: number;
}

/** Requests for a stream name themselves by `stream-N-` somewhere in their body; all others get a short whole reply. */
export async function startSteppedUpstream(words: number): Promise<SteppedUpstream> {
  const frames = { openai: streamFrames('openai', words), anthropic: streamFrames('anthropic', words), responses: streamFrames('responses', words) };
  const steps = new Map<string, () => void>();
  const server = createServer((request, response) => {
    const dialect = dialectOfPath(request.url);
    const parts: Buffer[] = [];
    request.on('data', (bytes: Buffer) => parts.push(bytes));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      const name = /stream-\d+-/.exec(body)?.[0];
      if (name === undefined || !/"stream": ?true/.test(body)) {
        const whole = wholeReply(dialect, 200);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
        response.end(whole);
      } else play(response, dialect, name);
    });
  });

  function play(response: ServerResponse, dialect: MockDialect, name: string): void {
    const all = frames[dialect];
    let at = lead[dialect] + 1;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    // With the first word: before it a gateway may send nothing.
    response.write(Buffer.concat(all.slice(0, at)));
    steps.set(name, () => {
      if (at < words + lead[dialect]) return void response.write(all[at++]!);
      steps.delete(name);
      response.end(Buffer.concat(all.slice(at)));
    });
    response.on('close', () => steps.delete(name));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    step: (name) => steps.get(name)?.(),
    get open() {
      return steps.size;
    },
  };
}
