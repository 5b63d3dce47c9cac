/** Plain HTTP to the gateway, for what no SDK would send. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  json: any;
}

export interface Sent {
  method?: string;
  /** A value may be a list: the header is sent several times. */
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** Sends exactly these headers and this path: nothing is normalised, joined or added but `host` and the length. */
export function send(base: string, path: string, { method = 'POST', headers = {}, body }: Sent = {}): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname,
      port,
      path,
      method,
      agent: false,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
      });
    });
    request.end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not every answer is JSON.
    return undefined;
  }
}
