/** The single retry when an upstream refuses the signatures in a request, or their lack: once more without what it named, on the same node and key. */
import type { Loss } from '@model-gateway/contracts';
import { readSignatureRefusal, type SignatureRefusal } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { AttemptEnd } from './send.ts';

/** The request to send again, or null when this end was about something else, or when nothing about it would differ. */
export async function withoutSignatures(call: Call, prepared: Prepared, end: AttemptEnd, context: TranslatorContext): Promise<Prepared | null> {
  if (end.fault === null || end.committed || prepared.signaturesRefused) return null;
  const refusal = readSignatureRefusal(end.fault);
  if (refusal === null) return null;
  const changed = await prepare(call, prepared.route, context, refusal);
  if (!changed.body.equals(prepared.body)) return again(call, prepared, changed, refusal);
  if (refusal.about === 'signatures') return null;
  // Nothing that the refusal named was found: the request may still pass without any signature.
  const stripped = await prepare(call, prepared.route, context, { about: 'signatures' });
  return stripped.body.equals(prepared.body) ? null : again(call, prepared, stripped, { about: 'signatures' });
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

function again(call: Call, prepared: Prepared, changed: Prepared, { about }: SignatureRefusal): Prepared {
  const why = prepared.signatures.prefixChanged() ? ', and the system text or the tools have changed since they were issued' : '';
  const { action, detail } = changes[about];
  call.lose([{ field: 'signatures', action, detail: detail.replace('%', why) }]);
  call.meter.reset();
  return changed;
}
