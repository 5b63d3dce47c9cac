/** A fast mock of two providers for load tests: `--port N --chunks 50 --delay 5 --bytes 1024` (ms between chunks, bytes of a whole reply). */
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { dialectOfPath, embeddingsReply, type MockDialect, mediaOfPath, soundPieces, streamFrames, wholeReply } from './mock-replies.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    chunks: { type: 'string', default: '50' },
    delay: { type: 'string', default: '5' },
    bytes: { type: 'string', default: '1024' },
  },
});
const delayMs = Number(values.delay);
const ofEach = <T>(make: (dialect: MockDialect) => T): Record<MockDialect, T> => ({
  openai: make('openai'),
  anthropic: make('anthropic'),
  responses: make('responses'),
});
const whole = ofEach((dialect) => wholeReply(dialect, Number(values.bytes)));
const frames = ofEach((dialect) => streamFrames(dialect, Number(values.chunks)));
const sound = soundPieces(Number(values.chunks));
const oneVector = embeddingsReply(1);
const manyVectors = embeddingsReply(1000);
/** Bytes from which a request for vectors is one for many. */
const manyInputs = 100_000;
// Never parsed: the mock must cost less than what it measures.
const streamMarks = [Buffer.from('"stream":true'), Buffer.from('"stream": true')];

createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (request, response) => {
  const media = mediaOfPath(request.url);
  if (request.url?.startsWith('/quiet/')) return void request.resume().on('end', () => fallSilent(response));
  if (media === 'speech') return void request.resume().on('end', () => stream(response, sound, 'audio/pcm'));
  if (media) {
    let size = 0;
    request.on('data', (bytes: Buffer) => {
      size += bytes.length;
    });
    return void request.on('end', () => reply(response, size < manyInputs ? oneVector : manyVectors));
  }
  const dialect = dialectOfPath(request.url);
  let wantsStream = false;
  // A writer may put `stream` anywhere, and a mark may be cut by a read: the end of each read is kept.
  let rest: Buffer = Buffer.alloc(0);
  request.on('data', (bytes: Buffer) => {
    if (wantsStream) return;
    const held = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    wantsStream = streamMarks.some((mark) => held.includes(mark));
    rest = held.subarray(-16);
  });
  request.on('end', () => (wantsStream ? stream(response, frames[dialect]) : reply(response, whole[dialect])));
}).listen(Number(values.port), '127.0.0.1');

function reply(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, 'x-request-id': 'req_mock' });
  response.end(body);
}

/** Nothing follows the first word until the caller leaves. */
function fallSilent(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-request-id': 'req_mock' });
  response.write(Buffer.concat(frames.openai.slice(0, 2)));
}

function stream(response: ServerResponse, all: readonly Buffer[], type = 'text/event-stream; charset=utf-8'): void {
  let at = 0;
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache', 'x-request-id': 'req_mock' });
  response.write(all[at++]!);
  const timer = setInterval(() => {
    if (at < all.length) response.write(all[at++]!);
    if (at < all.length) return;
    clearInterval(timer);
    response.end();
  }, delayMs);
  response.on('close', () => clearInterval(timer));
}
