/** The headers of one upstream call, made afresh for every attempt. */

import { renderHeaders } from '@model-gateway/body-rules';
import { signRequest } from '@model-gateway/upstream-client';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { CurrentRequest } from '../request/current.ts';
import { templateFacts } from '../request/template-facts.ts';
import { awaitCredential, carrierOf, withLoginHeaders } from './credential.ts';
import type { SecretDeps } from './deps.ts';
import { headersOf } from './upstream-headers.ts';

type Headers = Record<string, string>;

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. A promise only where the request is signed. */
export function callHeaders(current: CurrentRequest, upstreamRequest: UpstreamRequest, secrets: SecretDeps): Headers | Promise<Headers> {
  const waiting = awaitCredential(upstreamRequest.target.route, secrets);
  return waiting ? waiting.then(() => headersOfCall(current, upstreamRequest, secrets)) : headersOfCall(current, upstreamRequest, secrets);
}

function headersOfCall(current: CurrentRequest, upstreamRequest: UpstreamRequest, secrets: SecretDeps): Headers | Promise<Headers> {
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
  const loginHeaders = (credential: Headers): Headers => withLoginHeaders(route, credential, headers, secrets);
  if (!signing) return finish(loginHeaders(carrierOf(route, { adapter, key, headers, secrets })));
  return signRequest(signing, { method: endpoint.method, url: endpoint.url, headers, body }, new Date()).then(finish);
}
