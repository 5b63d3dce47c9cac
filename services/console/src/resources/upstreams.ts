/** Upstreams: connections to providers. Their keys go in, and never come out. */
import { type SealedUpstreamKey, sealedAs, type Upstream, upstreamKeySchema, upstreamSchema } from '@model-gateway/contracts';
import type { UpstreamDocument } from '@model-gateway/storage';
import { z } from 'zod';
import { withState } from '../api/answers/state.ts';
import { Problem } from '../problem.ts';
import { checkBaseUrl } from '../validation/base-url.ts';
import { checkBodyRules, checkTargets } from '../validation/body-rules.ts';
import { checkExtraConfig } from '../validation/extra-config.ts';
import { checkKindsOfModels } from '../validation/kind.ts';
import { checkProtocol } from '../validation/protocol.ts';
import { checkScripts, withoutBlankScripts } from '../validation/scripts.ts';
import { checkCustomHeaders, checkHeaderTemplate } from '../validation/templates.ts';
import { concealConfig, concealHeaders } from './conceal.ts';
import type { Resource } from './resource.ts';
import { exportHeaders, maskHeaders, maskSecretHeaders, sealHeaders } from './secret-headers.ts';
import { checkEgress, exportEgress, sealEgress, showEgress } from './upstream-egress.ts';
import { fingerprintOf, matchUpstreamKeys, upstreamKeyMask } from './upstream-keys.ts';
import { buildLogin, checkLogin, ownKeys } from './upstream-login.ts';

/** An error lists at most this many of what is in the way. */
const listed = 20;

const withoutValue = ({ sealed: _sealed, ...key }: SealedUpstreamKey) => key;

export const upstreams: Resource<UpstreamDocument, Upstream> = {
  path: 'upstreams',
  noun: 'upstream',
  entityType: 'upstream',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: upstreamSchema,
  partial: upstreamSchema.partial(),
  answer: upstreamSchema.extend({
    api_keys: z.array(upstreamKeySchema.required({ id: true, key: true }).extend(withState)),
    unavailable: z.string().nullable().default(null),
  }),
  reader: (reader) => reader.upstreams,
  writer: (writer) => writer.upstreams,
  toInput: ({ api_keys, sealed_headers, unavailable: _reason, ...document }) => ({
    ...document,
    ...showEgress(document),
    custom_headers: maskHeaders({ ...document, sealed_headers }),
    api_keys: ownKeys({ ...document, api_keys }).map(withoutValue),
  }),
  keptSecrets: (document) => ({ api_keys: ownKeys(document).map(withoutValue), custom_headers: maskSecretHeaders(document) }),
  toReply: ({ api_keys, sealed_headers, ...document }, kept) => ({
    ...document,
    ...showEgress(document),
    custom_headers: maskHeaders({ ...document, sealed_headers }),
    api_keys: ownKeys({ ...document, api_keys }).map((key) => ({
      ...withoutValue(key),
      key: upstreamKeyMask,
      ...(kept && { fingerprint: fingerprintOf(kept.id, key, kept.context) }),
    })),
  }),
  conceal: (shown) => ({ ...shown, custom_headers: concealHeaders(shown['custom_headers']), extra_config: concealConfig(shown['extra_config']) }),
  secrets: ({ api_keys, proxy, tls, custom_headers, sealed_headers, extra_config }) => ({
    api_keys: api_keys.map(({ id, sealed }) => [id, sealed]),
    proxy: proxy?.sealed ?? null,
    tls: tls?.sealed_key ?? null,
    custom_headers: [custom_headers, sealed_headers],
    extra_config,
  }),
  check: (input, context) => [
    ...checkLogin(input),
    ...checkProtocol('protocol', input.protocol, context.protocols),
    ...checkBaseUrl('base_url', input.base_url, context.outbound.policy),
    ...checkHeaderTemplate('user_agent', input.user_agent),
    ...checkCustomHeaders(input.custom_headers),
    ...checkEgress(input, context),
    ...checkExtraConfig(input.extra_config, 'upstream'),
    ...checkBodyRules(input.request_body_rules),
    ...checkScripts(input),
  ],
  async build({ api_keys, proxy, dns, tls, ...input }, { id, existing, writer, context, prefix }) {
    const login = await buildLogin(input, { writer, existing: existing?.document, context, prefix });
    const keys = matchUpstreamKeys(api_keys, { upstreamId: id, stored: existing ? ownKeys(existing.document) : [], context, prefix });
    const egress = sealEgress({ proxy, dns, tls }, { upstreamId: id, existing: existing?.document, context, prefix });
    const headers = sealHeaders(input.custom_headers, { upstreamId: id, existing: existing?.document, context, prefix });
    return { document: { ...withoutBlankScripts(input), ...egress, ...headers, api_keys: keys, ...login } };
  },
  async checkLinks(document, { reader, prefix, before, context }) {
    await checkTargets(document.request_body_rules, reader, prefix);
    if (before && before.protocol !== document.protocol) await checkKindsOfModels(document, { reader, prefix, protocols: context.protocols });
  },
  async checkRemoval({ document }, reader) {
    const models = await reader.models.where('upstream', document.name, listed);
    if (models.length === 0) return;
    const names = models.map((model) => model.document.name);
    throw new Problem(
      'in_use',
      `The upstream is still used by models: ${names.join(', ')}.`,
      names.map((message) => ({ field: 'models', message })),
    );
  },
  toExport: ({ id, document: { api_keys, sealed_headers, unavailable: _reason, ...document } }, seal) => ({
    ...document,
    ...exportEgress(document, id, seal),
    custom_headers: exportHeaders({ ...document, id, sealed_headers }, seal),
    api_keys: ownKeys({ ...document, api_keys }).map(({ sealed, ...key }) => ({
      ...key,
      key: seal.reseal(sealed, sealedAs.upstreamKey(id, key.id)),
    })),
  }),
};
