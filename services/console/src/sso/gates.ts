/** Which kinds of logins are open. A closed one is refused wherever it is named, in one sentence that does not depend on whether it exists. */
import type { SsoConfig } from '@model-gateway/config';
import type { SsoProfileId } from '@model-gateway/contracts';
import { type LoginProfile, loginProfiles } from '@model-gateway/protocols/login';
import { invalidField } from '../problem.ts';

/** The kinds that are open. */
export interface Gates {
  list(): LoginProfile[];
  isOpen(id: SsoProfileId): boolean;
  /** undefined: closed, or no such kind. */
  find(id: string): LoginProfile | undefined;
  /** Throws 422. */
  require(id: string, field?: string): LoginProfile;
}

export function createGates({ profiles }: SsoConfig): Gates {
  const isOpen = (id: SsoProfileId): boolean => profiles[id].enabled;
  const find = (id: string): LoginProfile | undefined => {
    const known = Object.hasOwn(loginProfiles, id) ? loginProfiles[id as SsoProfileId] : undefined;
    return known && isOpen(known.id) ? known : undefined;
  };
  return {
    list: () => Object.values(loginProfiles).filter(({ id }) => isOpen(id)),
    isOpen,
    find,
    require(id, field = 'profile') {
      const found = find(id);
      if (!found) throw invalidField(field, 'is not an enabled login: enable it with [sso.profiles.<id>] enabled = true, and restart');
      return found;
    },
  };
}
