/** One call of an upstream's own token counter. */
import { Pieces } from '@model-gateway/stream-framing';
import { callHeaders } from '../attempt/headers.ts';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Prepared } from '../prepare.ts';
import type { ReplySink } from '../reply-sink.ts';

const maxBytes = 64 * 1024;

/** `tokens` is null when the upstream has no counter, refused, or said nothing usable: the caller then counts otherwise. */
export async function sendCount(
  call: Call,
  prepared: Prepared,
  sink: ReplySink,
  context: TranslatorContext,
): Promise<{ status: number | null; tokens: number | null }> {
  const headers = await callHeaders(call, prepared, context);
  return new Promise((resolve) => {
    const pieces = new Pieces();
    let size = 0;
    let status: number | null = null;
    const sent = context.outbound.send(
      {
        method: prepared.request.method,
        url: prepared.request.url,
        headers,
        body: prepared.body,
        egress: prepared.egress,
        timeouts: { ...prepared.route.timeouts, total_ms: 10_000 },
      },
      {
        head: (code) => {
          status = code;
        },
        data: (chunk) => {
          size += chunk.length;
          if (size > maxBytes) sent.abort('count too large');
          else pieces.add(chunk);
        },
        end: () => resolve({ status, tokens: status === 200 ? readCount(prepared, pieces.take().toString('utf8')) : null }),
        error: () => resolve({ status, tokens: null }),
      },
    );
    sink.onCancel(() => sent.abort('caller left'));
  });
}

function readCount(prepared: Prepared, text: string): number | null {
  try {
    return prepared.upstream.readTokenCount(JSON.parse(text));
  } catch {
    // Not JSON: as good as no counter.
    return null;
  }
}
