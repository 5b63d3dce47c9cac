/** Bytes for addresses that the upstream does not open by itself, where the operator lets the gateway fetch what callers name. */
import { addressesOf, fetchAll, withFiles } from '../../media/inline-media.ts';
import type { Draft, Step } from '../draft.ts';

export const fetchMedia: Step = {
  name: 'fetch-media',
  run(draft) {
    const { call, translatorContext, upstream, verbatim, context } = draft;
    const opensUrl = upstream.opensUrl;
    if (!translatorContext.clientUrls || verbatim || !opensUrl || context.operation !== 'generate') return undefined;
    const urls = addressesOf(call.readRequest().conversation, (part) => opensUrl(part, context.target));
    return urls.length === 0 ? undefined : inline(draft, urls);
  },
};

async function inline(draft: Draft, urls: readonly string[]): Promise<undefined> {
  const { call, translatorContext, upstream, context } = draft;
  const outbound = translatorContext.clientUrls;
  if (!outbound) return undefined;
  await fetchAll(urls, call.files, outbound, call.leaving());
  call.did('fetch-media');
  draft.conversation = withFiles(call.readRequest().conversation, call.files, (part) => upstream.opensUrl?.(part, context.target) ?? true);
  return undefined;
}
