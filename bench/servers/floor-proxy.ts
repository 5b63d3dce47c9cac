/**
 * The least a proxy in Node can do (node:http in front, an undici pool behind, no features): the base of every ratio. `--port N --up URL`;
 * with `--processes N` as many behind one port.
 */
import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';

const { values } = parseArgs({ options: { port: { type: 'string' }, up: { type: 'string' }, processes: { type: 'string', default: '1' } } });
const pool = new Pool(values.up!, { connections: 512, pipelining: 1, keepAliveTimeout: 60_000 });

const processes = Number(values.processes);
if (cluster.isPrimary && processes > 1) for (let at = 0; at < processes; at++) cluster.fork();
else
  createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (bytes: Buffer) => parts.push(bytes));
    request.on('end', () => forward(request, response, parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
  }).listen(Number(values.port), '127.0.0.1');

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  pool.dispatch(
    { path: request.url ?? '/', method: 'POST', headers: headersFor(request, body), body },
    {
      onRequestStart(controller) {
        response.on('close', () => response.writableFinished || controller.abort(new Error('the client is gone')));
      },
      onResponseStart(_controller, status, { 'content-type': type, 'content-length': length }) {
        response.writeHead(status, { 'content-type': String(type), ...(length !== undefined && { 'content-length': String(length) }) });
      },
      onResponseData(controller, bytes) {
        if (response.write(bytes)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd: () => void response.end(),
      onResponseError() {
        if (!response.headersSent) response.writeHead(502);
        response.end();
      },
    },
  );
}

function headersFor({ headers }: IncomingMessage, body: Buffer): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: headers.accept ?? '*/*',
    ...(headers.authorization !== undefined && { authorization: headers.authorization }),
    'content-length': String(body.length),
  };
}
