/** Custom headers that carry a credential of their own: masked where they are shown, sealed where they are exported, kept where a mask comes back. */
import type { Keyring } from '@model-gateway/secrets';
import { invalid } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';
import { isTelling } from './conceal.ts';
import { sealForExport } from './export-seal.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

type Headers = Readonly<Record<string, string>>;

/** What is left of a template that is more than placeholders and the word of a scheme is a value of the admin's. */
const literal = (template: string): string => template.replaceAll(/\{\{[^{}]*\}\}/g, '').replace(/^\s*(?:bearer|basic|token)?\s*$/i, '');

/** A credential by its own word, whatever header it stands in. */
const scheme = /^\s*(?:bearer|basic)\s+\S/i;

function isSecret(name: string, template: string): boolean {
  const own = literal(template);
  return own !== '' && (isTelling(name) || scheme.test(own));
}

const mapSecrets = (headers: Headers, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(name, value) ? change(value) : value]));

export const maskHeaders = (headers: Headers): Record<string, string> => mapSecrets(headers, () => upstreamKeyMask);

export const sealHeaders = (headers: Headers, keyring: Keyring): Record<string, string> => mapSecrets(headers, (value) => sealForExport(value, keyring));

/** Masks stand for what is stored under the same name. Throws 422 where nothing is. */
export function keepMaskedHeaders(sent: Headers, stored: Headers | undefined, prefix: string): Record<string, string> {
  const known = new Map(Object.entries(stored ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const kept = (name: string) => known.get(name.toLowerCase());
  const isMask = (name: string, value: string) => isMasked(value) && (isTelling(name) || isSecret(name, kept(name) ?? ''));
  const faults = Object.entries(sent).filter(([name, value]) => isMask(name, value) && kept(name) === undefined);
  if (faults.length > 0) throw invalid(faults.map(([name]) => ({ field: joinPath(prefix, 'custom_headers', name), message: 'is a mask: send the value' })));
  return Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, isMask(name, value) ? (kept(name) ?? value) : value]));
}
