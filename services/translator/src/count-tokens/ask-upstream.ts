/** One call of an upstream's own token counter. */
import { Pieces } from '@model-gateway/stream-framing';
import type { SendDeps } from '../attempt/deps.ts';
import { callHeaders } from '../attempt/headers.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';

const maxBytes = 64 * 1024;

/** What an upstream answered. `tokens` is null when it has no counter, refused, or its answer is not usable: the caller then counts otherwise. */
export interface CountAnswer {
  status: number | null;
  tokens: number | null;
}

export async function sendCount(current: CurrentRequest, upstreamRequest: UpstreamRequest, { outbound, secrets }: SendDeps): Promise<CountAnswer> {
  const headers = await callHeaders(current, upstreamRequest, secrets);
  const { endpoint, bytes: body, egress, target } = upstreamRequest;
  return new Promise((resolve) => {
    const pieces = new Pieces();
    let size = 0;
    let status: number | null = null;
    const sent = outbound.send(
      { method: endpoint.method, url: endpoint.url, headers, body, egress, timeouts: { ...target.route.timeouts, total_ms: 10_000 } },
      {
        head: (code) => {
          status = code;
        },
        data: (chunk) => {
          size += chunk.length;
          if (size > maxBytes) sent.abort('count too large');
          else pieces.add(chunk);
        },
        end: () => resolve({ status, tokens: status === 200 ? readCount(upstreamRequest, pieces.take().toString('utf8')) : null }),
        error: () => resolve({ status, tokens: null }),
      },
    );
    current.request.cancellation.onCancel(() => sent.abort('caller left'));
  });
}

function readCount({ target }: UpstreamRequest, text: string): number | null {
  try {
    return target.adapter.readTokenCount(JSON.parse(text));
  } catch {
    // Not JSON: as good as no counter.
    return null;
  }
}
