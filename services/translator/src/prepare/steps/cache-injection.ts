/**
 * Cache injection: an upstream whose models cache only what is marked gets marks when the caller's protocol has none to set.
 * `extra_config.cache_injection: "off"` on the upstream or the model switches it off.
 */
import { readRequest } from '../../request/current.ts';
import type { PrepareContext, Step } from '../step.ts';
import { printContent, type RequestContent } from '../upstream-request.ts';

/** Shorter prompts are not cached by any vendor, and a write that is never read costs more than none. */
const minBytes = 8 * 1024;

export const cacheInjection: Step = {
  name: 'cache-injection',
  run(content, current) {
    const { adapter, context } = content.target;
    if (!adapter.injectCache || !isWanted(content, current)) return undefined;
    current.record.addStep('cache-injection');
    // A printed body that is not the caller's own becomes a value again.
    const value = content.printed ? (JSON.parse(printContent(content, current.body).toString('utf8')) as unknown) : content.value;
    adapter.injectCache(value, context);
    return content.printed ? { value, printed: null, edits: [] } : { value };
  },
};

function isWanted({ target: { verbatim, context, route } }: RequestContent, current: PrepareContext): boolean {
  const { request, body } = current;
  if (verbatim || request.client.marksCache || body.bytes.length < minBytes) return false;
  if (context.operation !== 'generate' || route.target.extraConfig?.['cache_injection'] === 'off') return false;
  readRequest(current);
  return !body.hasCacheMarks();
}
