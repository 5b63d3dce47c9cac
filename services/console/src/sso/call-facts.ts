/** What accompanies a credential's token on every call: flags that the vendor expects with it, the account that pays, how it is carried. */
import type { SsoAccess } from '@model-gateway/contracts';
import { loginProfiles } from '@model-gateway/protocols/login';
import type { SsoCredential } from '@model-gateway/storage';

export function callFacts(row: Pick<SsoCredential, 'profile' | 'settings'>): Pick<SsoAccess, 'headers' | 'bearer'> {
  const { headers, settings, bearer } = loginProfiles[row.profile];
  const quota = Object.hasOwn(settings, 'quota_project') ? row.settings['quota_project'] : undefined;
  return { headers: { ...headers, ...(quota !== undefined && { 'x-goog-user-project': quota }) }, ...(bearer && { bearer }) };
}
