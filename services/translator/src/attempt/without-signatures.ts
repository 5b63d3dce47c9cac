/** The single retry when an upstream refuses the signatures in a request, or their lack: once more without what it named, on the same node and key. */
import type { Loss } from '@model-gateway/contracts';
import { readSignatureRefusal, type SignatureRefusal } from '@model-gateway/protocols';
import { prepare } from '../prepare/prepare.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { RequestRecord } from '../request/record.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { AttemptEnd } from './result.ts';

/** The request to send again, or null when this end was about something else, or when nothing about it would differ. */
export async function withoutSignatures(attempt: AttemptContext, sent: UpstreamRequest, end: AttemptEnd): Promise<UpstreamRequest | null> {
  const { record } = attempt;
  if (end.fault === null || end.committed || sent.target.signaturesRefused) return null;
  const refusal = readSignatureRefusal(end.fault);
  if (refusal === null) return null;
  const changed = await prepare(attempt, refusal);
  if (!changed.bytes.equals(sent.bytes)) return declare(changed, sent, refusal, record);
  if (refusal.about === 'signatures') return null;
  // Nothing that the refusal named was found: the request may still pass without any signature.
  const stripped = await prepare(attempt, { about: 'signatures' });
  return stripped.bytes.equals(sent.bytes) ? null : declare(stripped, sent, { about: 'signatures' }, record);
}

const changes: Readonly<Record<SignatureRefusal['about'], Pick<Loss, 'action' | 'detail'>>> = {
  signatures: { action: 'dropped', detail: 'The upstream refused the thinking signatures of earlier turns%: it was asked again without them.' },
  'call-signature': {
    action: 'emulated',
    detail: 'The upstream demands a thinking signature with each call: where none is known, the value that skips the check was sent.',
  },
  thinking: { action: 'dropped', detail: 'The upstream demands the thinking that the calls began with: it was asked again without thinking.' },
  reasoning: { action: 'emulated', detail: 'The upstream demands the reasoning that led to the calls: it was asked again with what can stand for it.' },
  item: { action: 'dropped', detail: 'The upstream refused a reasoning item by its id: it was asked again without it.' },
};

function declare(changed: UpstreamRequest, sent: UpstreamRequest, { about }: SignatureRefusal, record: RequestRecord): UpstreamRequest {
  const why = sent.target.signatures.prefixChanged() ? ', and the system text or the tools have changed since they were issued' : '';
  const { action, detail } = changes[about];
  record.lose([{ field: 'signatures', action, detail: detail.replace('%', why) }]);
  record.meter.reset();
  return changed;
}
