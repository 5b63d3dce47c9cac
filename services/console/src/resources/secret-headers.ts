/** Custom headers that carry a credential of their own: they go in sealed, come out as masks, and a mask that comes back stands for what is stored. */
import { sealedAs } from '@model-gateway/contracts';
import type { StoredHeaders } from '@model-gateway/upstream-client';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';
import { isTelling } from './conceal.ts';
import type { ExportSeal } from './export-seal.ts';
import { opens, renewSeal } from './stored-secret.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

type Headers = Readonly<Record<string, string>>;
/** Rows of earlier versions hold such values among the others, until they are saved again. */
type Stored = Omit<StoredHeaders, 'id'>;

/** What is left of a template that is more than placeholders and the word of a scheme is a value of the admin's. */
const literal = (template: string): string => template.replaceAll(/\{\{[^{}]*\}\}/g, '').replace(/^\s*(?:bearer|basic|token)?\s*$/i, '');
/** A credential recognised by its scheme, whatever the header's name. */
const scheme = /^\s*(?:bearer|basic)\s+\S/i;

function isSecret(name: string, template: string): boolean {
  const own = literal(template);
  return own !== '' && (isTelling(name) || scheme.test(own));
}

const mapSecrets = (headers: Headers, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(name, value) ? change(value) : value]));

export const maskHeaders = ({ custom_headers, sealed_headers = {} }: Stored): Record<string, string> => ({
  ...mapSecrets(custom_headers, () => upstreamKeyMask),
  ...Object.fromEntries(Object.keys(sealed_headers).map((name) => [name, upstreamKeyMask])),
});

/** Those alone that carry a credential, as masks: what stays when a file says nothing of headers. */
export const maskSecretHeaders = ({ custom_headers, sealed_headers }: Stored): Record<string, string> =>
  maskHeaders({
    custom_headers: Object.fromEntries(Object.entries(custom_headers).filter(([name, value]) => isSecret(name, value))),
    ...(sealed_headers && { sealed_headers }),
  });

export const exportHeaders = ({ id, custom_headers, sealed_headers = {} }: StoredHeaders, { seal, reseal }: ExportSeal): Record<string, string> => ({
  ...mapSecrets(custom_headers, seal),
  ...Object.fromEntries(Object.entries(sealed_headers).map(([name, sealed]) => [name, reseal(sealed, sealedAs.upstreamHeader(id, name.toLowerCase()))])),
});

interface Place {
  upstreamId: string;
  existing: Stored | undefined;
  context: ConsoleContext;
  prefix: string;
}

/** What is stored. Throws a 422 that names each mask behind which nothing is. */
export function sealHeaders(sent: Headers, { upstreamId, existing, context, prefix }: Place): Stored {
  const byName = (headers: Headers = {}) => new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [plainOnes, sealedOnes] = [byName(existing?.custom_headers), byName(existing?.sealed_headers)];
  const faults: Detail[] = [];
  const plain: [string, string][] = [];
  const sealed: [string, string][] = [];
  for (const [name, given] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    const boundTo = sealedAs.upstreamHeader(upstreamId, lower);
    const kept = sealedOnes.get(lower);
    const old = plainOnes.get(lower);
    // Under any name: a header that is renamed takes its mask along, which would be sent as its value.
    const isBare = given === upstreamKeyMask && old === undefined;
    const isMask = isBare || (isMasked(given) && (isTelling(name) || kept !== undefined || isSecret(name, old ?? '')));
    if (isMask && kept === undefined && old === undefined)
      faults.push({ field: joinPath(prefix, 'custom_headers', name), message: 'is a mask: send the value' });
    const value = isMask ? (old ?? '') : given;
    if (kept !== undefined && (isMask || opens(context, kept, boundTo) === value)) sealed.push([name, renewSeal(context, kept, boundTo)]);
    else if (isSecret(name, value)) sealed.push([name, context.keyring.seal(value, boundTo)]);
    else plain.push([name, value]);
  }
  if (faults.length > 0) throw invalid(faults);
  return { custom_headers: Object.fromEntries(plain), ...(sealed.length > 0 && { sealed_headers: Object.fromEntries(sealed) }) };
}
