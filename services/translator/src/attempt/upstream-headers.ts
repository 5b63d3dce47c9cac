/** The custom headers of an upstream, opened and compiled once for each of its records. */
import { compileHeaders, type HeaderTemplates } from '@model-gateway/body-rules';
import type { UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { credentialOf, mayCarryCredential } from '@model-gateway/secrets';
import { readCustomHeaders } from '@model-gateway/upstream-client';
import type { SecretDeps } from './deps.ts';

type Headers = Record<string, string>;

/** The upstream's custom headers that hold no templates, and its user agent: for calls that no request is behind. */
export const fixedHeaders = (upstream: UpstreamRecord, secrets: SecretDeps): Readonly<Headers> => headersOf(upstream, secrets).fixed;

/** Records are shared by the snapshots in which they did not change: each is read once. */
const compiled = new WeakMap<UpstreamRecord, HeaderTemplates>();

/** Values that may be credentials are kept out of logs from then on. */
export function headersOf(upstream: UpstreamRecord, secrets: SecretDeps): HeaderTemplates {
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
