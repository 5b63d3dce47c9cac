/** Asks an upstream, with one of its own keys, which models it has. */

import { compileHeaders, noFacts, renderHeaders } from '@model-gateway/body-rules';
import { sealedAs } from '@model-gateway/contracts';
import type { Target } from '@model-gateway/protocols';
import type { StoredResource, UpstreamDocument } from '@model-gateway/storage';
import { Pieces } from '@model-gateway/stream-framing';
import { createEgressReader, type Outbound, readCustomHeaders, signRequest } from '@model-gateway/upstream-client';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { callFacts } from '../sso/call-facts.ts';

/** Models that an upstream lists. */
export interface FetchedModels {
  models: string[];
  parsed_count: number;
  /** Entries of the list as it came, readable or not. */
  raw_count: number;
  /** The address that was asked, without its query. */
  source: string;
}

const maxBytes = 8 * 1024 * 1024;
const totalMs = 20_000;

/** Throws `upstream_*` and `timeout` problems. Nothing of the upstream's text is passed on: it may repeat our credential. */
export async function fetchModels({ id, document }: StoredResource<UpstreamDocument>, context: ConsoleContext): Promise<FetchedModels> {
  const adapter = context.protocols.find((protocol) => protocol.id === document.protocol)?.upstream;
  if (!adapter) throw new Problem('validation_failed', `The protocol ${document.protocol} is not built yet for upstreams.`);
  const target: Target = {
    baseUrl: document.base_url,
    directPath: false,
    upstreamModelId: '',
    neutralHeaders: document.neutral_headers,
    extraConfig: document.extra_config,
  };
  const { method, url, headers } = adapter.listModels(target);
  const credential = await credentialOf(id, document, context);
  if (credential !== undefined) {
    const { value, headers: own, bearer } = credential;
    const signing = adapter.signing?.(value, target);
    Object.assign(headers, own);
    if (signing) Object.assign(headers, await signRequest(signing, { method, url, headers, body: undefined }, new Date()));
    else Object.assign(headers, bearer ? { authorization: `Bearer ${value}` } : adapter.credential(value, target, headers));
  }
  const open = (sealed: string, boundTo: string) => context.keyring.open(sealed, boundTo);
  renderHeaders(compileHeaders(readCustomHeaders({ ...document, id }, open), document.user_agent), () => noFacts, headers);

  const egress = createEgressReader({ open })({ ...document, id });
  const { status, bytes } = await send(context.outbound, { method, url, headers, egress, timeouts: { ...document.timeouts, total_ms: totalMs } });
  const { origin, pathname } = new URL(url);
  const source = origin + pathname;
  if (status === 401 || status === 403) throw new Problem('upstream_credential', `The upstream refused the stored key (${status}).`);
  if (status >= 300 && status < 400)
    throw new Problem('upstream_redirect', `The upstream answered ${status} to the model list: redirects are never followed, enter the address it moved to.`);
  if (status < 200 || status > 299) throw new Problem('upstream_failed', `The upstream answered ${status} to the model list at ${source}.`);
  let list: unknown;
  try {
    list = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Problem('upstream_bad_reply', 'The upstream answered the model list with something that is not JSON: check its base_url and protocol.');
  }
  const models = [...new Set(adapter.readModelList(list))].filter((id) => id !== '');
  return { models, parsed_count: models.length, raw_count: countEntries(list), source };
}

interface Credential {
  value: string;
  headers?: Record<string, string>;
  bearer?: true;
}

async function credentialOf(id: string, document: UpstreamDocument, { keyring, sso }: ConsoleContext): Promise<Credential | undefined> {
  if (document.sso_credential) {
    const access = await sso.refresher.access(document.sso_credential);
    if ('refused' in access) throw new Problem('upstream_credential', `The upstream's credential gives no token (${access.refused}).`);
    return { value: access.token, ...callFacts(access.row) };
  }
  const key = document.api_keys.find(({ weight }) => weight > 0) ?? document.api_keys[0];
  return key && { value: keyring.open(key.sealed, sealedAs.upstreamKey(id, key.id)) };
}

/** Lists are an array, or an object with one. */
function countEntries(list: unknown): number {
  if (Array.isArray(list)) return list.length;
  const arrays = typeof list === 'object' && list !== null ? Object.values(list).filter(Array.isArray) : [];
  return Math.max(0, ...arrays.map((array) => array.length));
}

function send(outbound: Outbound, request: Parameters<Outbound['send']>[0]): Promise<{ status: number; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    let size = 0;
    let status = 0;
    const call = outbound.send(request, {
      head: (code) => {
        status = code;
      },
      data: (chunk) => {
        size += chunk.length;
        if (size <= maxBytes) pieces.add(chunk);
        else call.abort(new Problem('upstream_bad_reply', 'The list of models is larger than 8 MiB.'));
      },
      end: () => resolve({ status, bytes: pieces.take() }),
      error: (fault) => {
        if (size > maxBytes) return reject(new Problem('upstream_bad_reply', 'The list of models is larger than 8 MiB.'));
        reject(
          new Problem(
            fault.class === 'timeout' ? 'upstream_timeout' : 'upstream_unavailable',
            fault.detail ? `${fault.message} (${fault.detail})` : fault.message,
          ),
        );
      },
    });
  });
}
