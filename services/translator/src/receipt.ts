/** What a translation did to a request, reported in three forms: the row's `losses`, a digest in a response header, and a refusal where a group is strict. */
import { isInUpstreamTerms, type Loss } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RequestContext } from './request/context.ts';
import type { RequestRecord } from './request/record.ts';

export const receiptHeader = 'x-gateway-translation';

/** Words of the digest; what was downgraded no longer is what was asked for, so it counts as lost. */
const words: Readonly<Record<Loss['action'], 'lost' | 'emulated' | 'renamed'>> = {
  dropped: 'lost',
  downgraded: 'lost',
  emulated: 'emulated',
  renamed: 'renamed',
};
const counted = ['lost', 'emulated', 'renamed'] as const;

/** `{x-gateway-translation: "alpha>beta; lost=2; emulated=1"}`; nothing for a reply that passes as it is and lost nothing. */
export function receiptHeaders({ job }: RequestContext, { losses, upstreamProtocol }: RequestRecord): Record<string, string> {
  if (isInUpstreamTerms(job.operation) || upstreamProtocol === null || (losses.length === 0 && upstreamProtocol === job.clientProtocol)) return {};
  const counts = counted.map((word) => [word, losses.filter((loss) => words[loss.action] === word).length] as const);
  return {
    [receiptHeader]: [`${job.clientProtocol}>${upstreamProtocol}`, ...counts.filter(([, count]) => count > 0).map(([word, count]) => `${word}=${count}`)].join(
      '; ',
    ),
  };
}

/** A refusal names this many losses; the rest are counted. */
const maxNamed = 12;

/** The 400 of a strict group for a request that would lose something on its way, or null. Emulated and renamed things still mean the same. */
export function strictRefusal(request: RequestContext, record: RequestRecord): GatewayError | null {
  const lost = record.losses.filter((loss) => words[loss.action] === 'lost');
  if (lost.length === 0) return null;
  const named = lost.slice(0, maxNamed).map((loss) => `${loss.field} (${loss.action}: ${loss.detail.replace(/\.$/, '')})`);
  const more = lost.length > maxNamed ? `; and ${lost.length - maxNamed} more` : '';
  return new GatewayError('lossy_translation', {
    message: `This access key's group refuses lossy translations, and this request would lose: ${named.join('; ')}${more}.`,
    headers: receiptHeaders(request, record),
    ...(lost[0] && { param: lost[0].field }),
  });
}
