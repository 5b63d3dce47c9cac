/**
 * Cache injection: an upstream whose models cache only what is marked gets marks when the caller's protocol has none to set.
 * `extra_config.cache_injection: "off"` on the upstream or the model switches it off.
 */
import { openDraft, type Step } from '../draft.ts';

/** Shorter prompts are not cached by any vendor, and a write that is never read costs more than none. */
const fewestBytes = 8 * 1024;

export const cacheInjection: Step = {
  name: 'cache-injection',
  run(draft) {
    const { call, route, verbatim, upstream, context } = draft;
    if (verbatim || !upstream.injectCache || call.client.marksCache || call.body.length < fewestBytes) return undefined;
    if (context.operation !== 'generate' || route.target.extraConfig?.['cache_injection'] === 'off') return undefined;
    if (call.hasCacheMarks()) return undefined;
    call.did('cache-injection');
    openDraft(draft);
    upstream.injectCache(draft.body, context);
    return undefined;
  },
};
