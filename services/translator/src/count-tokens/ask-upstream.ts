/** One call of an upstream's own token counter. */
import type { UpstreamFault } from '@model-gateway/protocols';
import { Pieces } from '@model-gateway/stream-framing';
import { outboundFault } from '../attempt/classify.ts';
import type { SendDeps } from '../attempt/deps.ts';
import { callHeaders } from '../attempt/headers.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';

const maxBytes = 64 * 1024;

/** What an upstream answered. `tokens` is null when it has no counter, refused, or its answer is not usable: the caller then counts otherwise. */
export interface CountAnswer {
  status: number | null;
  tokens: number | null;
  /** Why it did not answer; null: it did, and `tokens` says whether it makes sense. */
  fault: UpstreamFault | null;
}

export async function sendCount(current: CurrentRequest, upstreamRequest: UpstreamRequest, { outbound, secrets }: SendDeps): Promise<CountAnswer> {
  const headers = await callHeaders(current, upstreamRequest, secrets);
  const { endpoint, bytes: body, egress, target } = upstreamRequest;
  return new Promise((resolve) => {
    const pieces = new Pieces();
    let [size, status, replyHeaders]: [number, number | null, Readonly<Record<string, string>>] = [0, null, {}];
    const sent = outbound.send(
      { method: endpoint.method, url: endpoint.url, headers, body, egress, timeouts: { ...target.route.timeouts, total_ms: 10_000 } },
      {
        head(code, given) {
          [status, replyHeaders] = [code, given];
        },
        data(chunk) {
          size += chunk.length;
          if (size > maxBytes) sent.abort('count too large');
          else pieces.add(chunk);
        },
        end() {
          const text = pieces.take().toString('utf8');
          if (status === null || status === 200) resolve({ status, tokens: status === 200 ? readCount(upstreamRequest, text) : null, fault: null });
          else resolve({ status, tokens: null, fault: target.adapter.readError(status, replyHeaders, secrets.redactor.redact(text)) });
        },
        error: (fault) => resolve({ status, tokens: null, fault: outboundFault(fault, status !== null) }),
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
