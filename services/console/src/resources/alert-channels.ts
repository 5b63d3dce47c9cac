/** Where alerts go. Addresses of webhooks, signing secrets and passwords are stored sealed and shown as masks. */
import { type AlertChannelInput, alertChannelSchema, sealedAs } from '@model-gateway/contracts';
import type { AlertChannelDocument } from '@model-gateway/storage';
import { type Detail, invalid } from '../problem.ts';
import { checkBaseUrl } from '../validation/base-url.ts';
import { joinPath } from '../validation/read-input.ts';
import type { BuildContext, Resource } from './resource.ts';
import { opens, renewSeal } from './stored-secret.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

/** The path of a webhook's address is what lets somebody write there. */
const maskedUrl = (origin: string | null): string | null => (origin === null ? null : `${origin}/${upstreamKeyMask}`);
const mask = (sealed: string | null): string | null => (sealed === null ? null : upstreamKeyMask);

const show = ({ origin, sealed_url: _url, sealed_secret, sealed_password, smtp, ...document }: AlertChannelDocument) => ({
  ...document,
  url: maskedUrl(origin),
  secret: mask(sealed_secret),
  smtp: smtp && { ...smtp, password: mask(sealed_password) },
});

export const alertChannels: Resource<AlertChannelDocument, AlertChannelInput> = {
  path: 'alert-channels',
  noun: 'alert channel',
  entityType: 'alert_channel',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: alertChannelSchema,
  partial: alertChannelSchema.partial(),
  answer: alertChannelSchema,
  reader: (reader) => reader.alertChannels,
  writer: (writer) => writer.alertChannels,
  toInput: show,
  keptSecrets: (document) => {
    const { url, secret, smtp } = show(document);
    return { url, secret, smtp };
  },
  toReply: show,
  secrets: ({ sealed_url, sealed_secret, sealed_password }) => ({ url: sealed_url, secret: sealed_secret, smtp: sealed_password }),
  check: (input, { outbound }) => [...checkNeeds(input), ...checkBaseUrl('url', input.url, outbound.policy)],
  async build({ url, secret, smtp, ...input }, building) {
    const { password = null, ...server } = smtp ?? {};
    const stored = building.existing?.document;
    // A password does not follow to another server.
    const isSameServer = smtp !== null && stored?.smtp?.host === smtp.host && stored.smtp.port === smtp.port && stored.smtp.username === smtp.username;
    // Its origin is no secret: another one beside the mask is a wish to send elsewhere, which needs the path.
    if (stored && url !== null && isMasked(url) && url !== show(stored).url)
      throw invalid([{ field: joinPath(building.prefix, 'url'), message: 'is the mask of another address: send the whole address' }]);
    const sealed_url = seal('url', url, stored?.sealed_url ?? null, building);
    return {
      document: {
        ...input,
        smtp: smtp === null ? null : (server as NonNullable<AlertChannelDocument['smtp']>),
        origin: url === null ? null : isMasked(url) ? (stored?.origin ?? null) : new URL(url).origin,
        sealed_url,
        sealed_secret: seal('secret', secret, stored?.sealed_secret ?? null, building),
        sealed_password: seal('password', password, isSameServer ? (stored?.sealed_password ?? null) : null, building),
      },
    };
  },
  checkRemoval: async () => undefined,
  toExport: ({ id, document }, { reseal }) => {
    const open = (field: SecretField, sealed: string | null) => (sealed === null ? null : reseal(sealed, sealedAs.alertChannel(id, field)));
    const shown = show(document);
    const url = open('url', document.sealed_url);
    return {
      ...shown,
      // A mask as replies show it: an import takes that as the stored address.
      url: url !== null && isMasked(url) ? shown.url : url,
      secret: open('secret', document.sealed_secret),
      smtp: shown.smtp && { ...shown.smtp, password: open('password', document.sealed_password) },
    };
  },
};

type SecretField = 'url' | 'secret' | 'password';
const places: Record<SecretField, string> = { url: 'url', secret: 'secret', password: 'smtp.password' };

function seal(field: SecretField, sent: string | null, stored: string | null, { id, context, prefix }: BuildContext<AlertChannelDocument>): string | null {
  if (sent === null) return null;
  const place = sealedAs.alertChannel(id, field);
  if (isMasked(sent)) {
    if (stored !== null) return renewSeal(context, stored, place);
    throw invalid([{ field: joinPath(prefix, places[field]), message: 'is a mask: send the value' }]);
  }
  return stored !== null && opens(context, stored, place) === sent ? renewSeal(context, stored, place) : context.keyring.seal(sent, place);
}

/** What each kind needs, and what it has no use for. */
function checkNeeds({ kind, url, secret, smtp, from, to, to_owner }: AlertChannelInput): Detail[] {
  if (kind !== 'email') {
    const unused = [
      ...(smtp === null ? [] : ['smtp']),
      ...(from === null ? [] : ['from']),
      ...(to.length === 0 ? [] : ['to']),
      ...(to_owner ? ['to_owner'] : []),
    ];
    return [
      ...(url === null ? [{ field: 'url', message: 'is needed for a webhook' }] : []),
      ...(kind === 'slack' && secret !== null ? [{ field: 'secret', message: 'is for webhooks alone' }] : []),
      ...unused.map((field) => ({ field, message: 'is for e-mail alone' })),
    ];
  }
  return [
    ...(smtp === null ? [{ field: 'smtp', message: 'is needed for e-mail' }] : []),
    ...(from === null ? [{ field: 'from', message: 'is needed for e-mail' }] : []),
    ...(to.length === 0 && !to_owner ? [{ field: 'to', message: 'is needed for e-mail, unless it goes to owners of keys alone' }] : []),
    ...(url === null ? [] : [{ field: 'url', message: 'is for webhooks alone' }]),
    ...(secret === null ? [] : [{ field: 'secret', message: 'is for webhooks alone' }]),
  ];
}
