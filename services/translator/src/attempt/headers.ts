/** The headers of one upstream call, made afresh for every attempt. */
import type { UpstreamRecord } from '@model-gateway/contracts';
import { compileHeaders, type HeaderTemplates, renderHeaders } from '@model-gateway/rewrite';
import type { Redactor } from '@model-gateway/telemetry';
import type { Call } from '../call.ts';
import type { Prepared } from '../prepare.ts';
import type { Room } from '../room.ts';
import { templateFacts } from './template-facts.ts';

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. */
export function callHeaders(call: Call, prepared: Prepared, room: Room): Record<string, string> {
  const { request, route, upstream } = prepared;
  const headers: Record<string, string> = { ...request.headers };
  if (route.key) Object.assign(headers, upstream.credential(room.openKey(route.upstream, route.key), route.target));
  renderHeaders(headersOf(route.upstream, room.redactor), () => templateFacts(call), headers);
  return headers;
}

/** Records are shared by the snapshots in which they did not change: each is read once. */
const compiled = new WeakMap<UpstreamRecord, HeaderTemplates>();
/** An admin may put a credential into a custom header; its value must not appear in logs either. */
const likelyCredential = /auth|key|token|secret|cookie/;

function headersOf(upstream: UpstreamRecord, redactor: Redactor): HeaderTemplates {
  let headers = compiled.get(upstream);
  if (!headers) {
    headers = compileHeaders(upstream.custom_headers, upstream.user_agent);
    for (const [name, value] of Object.entries(headers.fixed)) {
      if (likelyCredential.test(name)) redactor.add(value.replace(/^(?:bearer|basic) +/i, ''));
    }
    compiled.set(upstream, headers);
  }
  return headers;
}
