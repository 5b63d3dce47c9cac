/** Bytes for addresses that the upstream does not open by itself, where the operator lets the gateway fetch what callers name. */
import type { MediaPart } from '@model-gateway/protocols';
import type { Outbound } from '@model-gateway/upstream-client';
import { addressesOf, fetchAll, withFiles } from '../../media/inline-media.ts';
import { readRequest } from '../../request/current.ts';
import type { PrepareContext, Step } from '../step.ts';
import type { RequestPatch } from '../upstream-request.ts';

/** Whether the upstream opens the part's address by itself. */
type Opens = (part: MediaPart) => boolean;

export const fetchMedia: Step = {
  name: 'fetch-media',
  run({ target: { adapter, verbatim, context } }, current) {
    const { clientUrls } = current.prepare.network;
    if (!clientUrls || verbatim || !adapter.opensUrl || context.operation !== 'generate') return undefined;
    const opens: Opens = (part) => adapter.opensUrl?.(part, context.target) ?? true;
    const urls = addressesOf(readRequest(current).conversation, opens);
    return urls.length === 0 ? undefined : fetchInto(current, urls, opens, clientUrls);
  },
};

async function fetchInto(current: PrepareContext, urls: readonly string[], opens: Opens, clientUrls: Outbound): Promise<RequestPatch> {
  const { request, record, body } = current;
  const { files } = request.cache;
  await fetchAll(urls, files, clientUrls, { signal: request.cancellation.signal() });
  record.addStep('fetch-media');
  return { conversation: withFiles(body.readRequest().conversation, files, opens) };
}
