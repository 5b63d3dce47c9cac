/** Settings of one credential, read by what its kind of login knows of them. */
import type { LoginProfile } from './profile.ts';

export type LoginSettings = Readonly<Record<string, string>>;

/** A setting that is missing, unknown or no address. */
export interface SettingFault {
  setting: string;
  message: string;
}

/** With defaults, in which `{region}` and such are replaced. Secrets are among them. */
export function completeSettings(profile: LoginProfile, given: LoginSettings): LoginSettings {
  const complete: Record<string, string> = {};
  for (const [name, { fallback }] of Object.entries(profile.settings)) {
    const value = given[name] ?? fallback?.replaceAll(/\{(\w+)\}/g, (_whole, other: string) => complete[other] ?? given[other] ?? '');
    if (value !== undefined && value !== '') complete[name] = value;
  }
  return complete;
}

export function checkSettings(profile: LoginProfile, given: LoginSettings): SettingFault[] {
  const known = Object.keys(profile.settings);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(profile.settings, name));
  const complete = completeSettings(profile, given);
  return [
    ...unknown.map((setting) => ({ setting, message: `is not a setting of ${profile.id}; accepted: ${known.join(', ')}` })),
    ...known.flatMap((setting): SettingFault[] => {
      const { optional, address } = profile.settings[setting]!;
      const value = complete[setting];
      if (value === undefined) return optional ? [] : [{ setting, message: 'is required' }];
      return address && !isTokenAddress(value) ? [{ setting, message: 'must be an https address, or http on this machine' }] : [];
    }),
  ];
}

/** Tokens travel encrypted, or not beyond this machine. */
export function isTokenAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname));
}
