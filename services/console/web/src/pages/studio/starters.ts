/** A first script for each slot: it runs as it stands and shows what the slot is for. */
import type { ScriptSlot } from '@model-gateway/contracts';

export const starters: Readonly<Record<ScriptSlot, string>> = {
  request_transform_before: `// The caller's own body, before the gateway reads it.
function transform(body, context) {
  if (context.accessKeyGroup === 'trial') body.temperature = 0;
  set_path(body, 'metadata.team', context.headers['x-team'] ?? 'unknown');
  return body;
}
`,
  request_transform_after: `// The body as the upstream will get it.
function transform(body, context) {
  remove_path(body, 'temperature');
  add_if_absent_path(body, 'metadata.request', context.requestId);
  return body;
}
`,
  response_transform: `// The upstream's whole reply, before anything is read of it. Streams pass by.
function transform(body, context) {
  if (context.responseStatus === 200) set_path(body, 'gateway_ms', context.elapsedMs);
  return body;
}
`,
};
