/** The headers of one upstream call, made afresh for every attempt. */

import { compileHeaders, type HeaderTemplates, renderHeaders } from '@model-gateway/body-rules';
import type { UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { credentialOf, mayCarryCredential } from '@model-gateway/secrets';
import { readCustomHeaders, signRequest } from '@model-gateway/upstream-client';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';
import { templateFacts } from '../request/template-facts.ts';
import type { SecretDeps } from './deps.ts';

type Headers = Record<string, string>;

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. A promise only where the request is signed. */
export function callHeaders(current: CurrentRequest, upstreamRequest: UpstreamRequest, secrets: SecretDeps): Headers | Promise<Headers> {
  const { endpoint, target, bytes: body } = upstreamRequest;
  const { route, adapter } = target;
  const headers: Headers = { ...endpoint.headers };
  const finish = (credential: Headers): Headers => {
    Object.assign(headers, credential);
    renderHeaders(headersOf(route.upstream, secrets), () => templateFacts(current), headers);
    return headers;
  };
  if (!route.key) return finish({});
  const key = secrets.openKey(route.upstream, route.key);
  const signing = adapter.signing?.(key, route.target);
  if (!signing) return finish(adapter.credential(key, route.target, headers));
  return signRequest(signing, { method: endpoint.method, url: endpoint.url, headers, body }, new Date()).then(finish);
}

/** Records are shared by the snapshots in which they did not change: each is read once. */
const compiled = new WeakMap<UpstreamRecord, HeaderTemplates>();

function headersOf(upstream: UpstreamRecord, secrets: SecretDeps): HeaderTemplates {
  let headers = compiled.get(upstream);
  if (!headers) {
    // An admin may put a credential into a custom header; its value must not appear in logs either.
    const hide = (value: string) => secrets.redactor.add(credentialOf(value));
    headers = compileHeaders(openHeaders(upstream, secrets, hide), upstream.user_agent);
    for (const [name, value] of Object.entries(headers.fixed)) if (mayCarryCredential(name)) hide(value);
    compiled.set(upstream, headers);
  }
  return headers;
}

function openHeaders(upstream: UpstreamRecord, { keyring }: SecretDeps, hide: (value: string) => void): Headers {
  try {
    return readCustomHeaders(upstream, (sealed, boundTo) => {
      const value = keyring.open(sealed, boundTo);
      hide(value);
      return value;
    });
  } catch (cause) {
    throw new GatewayError('upstream_credential', { cause });
  }
}
