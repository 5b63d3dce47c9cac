/** The headers of one upstream call, made afresh for every attempt. */

import { compileHeaders, type HeaderTemplates, renderHeaders } from '@model-gateway/body-rules';
import type { UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { credentialOf, type Keyring, mayCarryCredential } from '@model-gateway/secrets';
import { readCustomHeaders, signRequest } from '@model-gateway/upstream-client';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Prepared } from '../prepare.ts';
import { templateFacts } from './template-facts.ts';

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. A promise only where the request is signed. */
export function callHeaders(call: Call, prepared: Prepared, context: TranslatorContext): Record<string, string> | Promise<Record<string, string>> {
  const { request, route, upstream, body } = prepared;
  const headers: Record<string, string> = { ...request.headers };
  const finish = (credential: Record<string, string>): Record<string, string> => {
    Object.assign(headers, credential);
    renderHeaders(headersOf(route.upstream, context), () => templateFacts(call), headers);
    return headers;
  };
  if (!route.key) return finish({});
  const key = context.openKey(route.upstream, route.key);
  const signing = upstream.signing?.(key, route.target);
  if (!signing) return finish(upstream.credential(key, route.target, headers));
  return signRequest(signing, { method: request.method, url: request.url, headers, body }, new Date()).then(finish);
}

/** Records are shared by the snapshots in which they did not change: each is read once. */
const compiled = new WeakMap<UpstreamRecord, HeaderTemplates>();

function headersOf(upstream: UpstreamRecord, { keyring, redactor }: Pick<TranslatorContext, 'keyring' | 'redactor'>): HeaderTemplates {
  let headers = compiled.get(upstream);
  if (!headers) {
    // An admin may put a credential into a custom header; its value must not appear in logs either.
    const secret = (value: string) => redactor.add(credentialOf(value));
    headers = compileHeaders(openHeaders(upstream, keyring, secret), upstream.user_agent);
    for (const [name, value] of Object.entries(headers.fixed)) if (mayCarryCredential(name)) secret(value);
    compiled.set(upstream, headers);
  }
  return headers;
}

function openHeaders(upstream: UpstreamRecord, keyring: Keyring, secret: (value: string) => void): Record<string, string> {
  try {
    return readCustomHeaders(upstream, (sealed, boundTo) => {
      const value = keyring.open(sealed, boundTo);
      secret(value);
      return value;
    });
  } catch (cause) {
    throw new GatewayError('upstream_credential', { cause });
  }
}
