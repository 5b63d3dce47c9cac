/** A request from an address of this machine that one chooses: all of 127.0.0.0/8 is. */
import { request } from 'node:http';

/** One call; resolves with its status and its text. */
export function askFrom(
  localAddress: string,
  url: string,
  { key, body, headers = {} }: { key: string; body?: unknown; headers?: Record<string, string> },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        localAddress,
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          text += piece;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
