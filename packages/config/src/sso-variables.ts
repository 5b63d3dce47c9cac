/** The gates of logins at vendors: one switch for each kind. */
import { type SsoProfileId, ssoProfileIds } from '@model-gateway/contracts';
import { flag } from './parsers.ts';
import { type Variable, variable } from './variable.ts';

/** The one kind that is open unless somebody closes it. */
const open: ReadonlySet<SsoProfileId> = new Set<SsoProfileId>(['cloudhost_ide']);

const gate = (id: SsoProfileId) => ({
  enabled: variable(flag, {
    toml: `sso.profiles.${id}.enabled`,
    fallback: open.has(id),
    description: `Whether upstreams may get their credential by the login \`${id}\`, which docs/credentials.md describes.${
      open.has(id) ? ' Experimental.' : ' Closed, it is shown nowhere, and its credentials are neither imported nor renewed nor used.'
    }`,
  }),
});

type Gate = { enabled: Variable<boolean> };

export const ssoVariables = { profiles: Object.fromEntries(ssoProfileIds.map((id) => [id, gate(id)])) as Record<SsoProfileId, Gate> };
