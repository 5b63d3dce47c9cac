/** What replies show to those who may change it, but neither to monitors nor in records of the past: values that may be credentials. */
import type { HeaderRule } from '@model-gateway/contracts';
import { credentialName } from '../validation/base-url.ts';

const mask = '********';
const telling = /secret|token|passw|credential|api.?key|access.?key|private.?key|authorization|cookie|(?:^|[-_])auth(?:[-_]|$)|[-_]key$/i;

/** Whether what has this name is likely a credential. */
export const isTelling = (name: string): boolean => telling.test(name);

/** Headers are where credentials are sent: their names are kept, their values are not. */
export const concealHeaders = (headers: unknown): unknown =>
  typeof headers === 'object' && headers !== null ? Object.fromEntries(Object.keys(headers).map((name) => [name, mask])) : headers;

/** Rules on callers' headers: what a header that carries a credential is compared with is one. */
export const concealRules = (rules: unknown): unknown =>
  Array.isArray(rules)
    ? rules.map((rule) => (typeof rule?.header === 'string' && isTelling(rule.header) && 'value' in rule ? { ...rule, value: mask } : rule))
    : rules;

/** What `concealRules` hides. */
export const secretsOfRules = (rules: readonly HeaderRule[]): [string, string][] =>
  rules.flatMap(({ header, value }): [string, string][] => (value !== undefined && isTelling(header) ? [[header.toLowerCase(), value]] : []));

/** An address whose query carries a credential, which some servers take nowhere else. Every other byte stays. */
export const concealQuery = (url: unknown): unknown =>
  typeof url === 'string'
    ? url.replace(/([?&])([^=&#]*)=([^&#]*)/g, (pair, before: string, name: string) => (credentialName.test(name) ? `${before}${name}=${mask}` : pair))
    : url;

/** Free settings: values whose name says that they are secret. */
export function concealConfig(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(concealConfig);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, isTelling(name) && child !== null ? mask : concealConfig(child)]));
}
