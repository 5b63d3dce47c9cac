/** Credentials by login, as the API gives them, and the form that a login begins with. */
import type { SsoCredential, SsoProfile } from '@model-gateway/console/answers';

export type Flow = SsoProfile['flows'][number];
export type Setting = SsoProfile['settings'][number];

/** What a login begins with. Empty texts are left out. */
export interface LoginForm extends Record<string, unknown> {
  name: string;
  profile: string;
  flow: Flow | '';
  settings: Record<string, string>;
  account: string;
  tokens: string;
  upstream: { name: string; base_url: string };
}

export const emptyLogin: LoginForm = { name: '', profile: '', flow: '', settings: {}, account: '', tokens: '', upstream: { name: '', base_url: '' } };

/** A new login of a credential that exists: secret settings stay as they are where nothing is typed. */
export const loginAgain = ({ name, profile, settings }: SsoCredential): LoginForm => ({ ...emptyLogin, name, profile, settings: { ...settings } });

const filled = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])));

/** The body of `login` and of `import`. */
export function toBody({ name, profile, flow, settings, account, tokens, upstream }: LoginForm, known: SsoProfile, replace: boolean) {
  const fields = known.settings.map((setting) => setting.name);
  const own = filled(settings);
  const made = filled(upstream);
  return {
    name: name.trim(),
    profile,
    settings: Object.fromEntries(Object.entries(own).filter(([field]) => fields.includes(field))),
    ...(account.trim() && { account: account.trim() }),
    ...(replace && { replace: true }),
    ...(made['name'] && { upstream: made }),
    ...((flow === 'device' || flow === 'code') && { flow }),
    ...(flow === 'paste' && { tokens }),
  };
}

const place = 'model-gateway.logins';
const kept = 20;

/** Which login a browser comes back to: the vendor returns its state, and nothing else of ours. */
export function rememberLogin(id: string, authorizeUrl: string): void {
  const state = new URL(authorizeUrl).searchParams.get('state');
  if (state === null) return;
  localStorage.setItem(place, JSON.stringify([[state, id], ...readLogins()].slice(0, kept)));
}

function readLogins(): [string, string][] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(value) ? (value as [string, string][]) : [];
  } catch {
    return [];
  }
}

/** undefined: this browser has begun no such login. */
export const recallLogin = (state: string): string | undefined => readLogins().find(([one]) => one === state)?.[1];

export const forgetLogin = (state: string): void => localStorage.setItem(place, JSON.stringify(readLogins().filter(([one]) => one !== state)));
