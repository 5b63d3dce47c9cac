/** An upstream whose credential comes by login has one key entry, which stands for the account: it binds callers and signatures whatever the token is now. */
import { type SealedUpstreamKey, ssoKeyId, type Upstream } from '@model-gateway/contracts';
import { loginProfiles } from '@model-gateway/protocols/login';
import type { CatalogWriter, UpstreamDocument } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalidField } from '../problem.ts';
import { unavailability } from '../sso/availability.ts';
import { joinPath } from '../validation/read-input.ts';

/** One credential at a time. */
export const checkLogin = ({ sso_credential: credential, api_keys: keys }: Upstream): Detail[] =>
  credential && keys.length > 0 ? [{ field: 'sso_credential', message: 'and api_keys exclude one another: send api_keys: [] with it' }] : [];

export interface LoginParts {
  api_keys: SealedUpstreamKey[];
  unavailable?: string;
}

/** Throws 422: there is no such credential, its kind is closed, or it is not for this protocol. */
export async function buildLogin(
  { sso_credential: name, protocol }: Pick<Upstream, 'sso_credential' | 'protocol'>,
  { writer, existing, context, prefix }: { writer: CatalogWriter; existing: UpstreamDocument | undefined; context: ConsoleContext; prefix: string },
): Promise<LoginParts | null> {
  if (!name) return null;
  const field = joinPath(prefix, 'sso_credential');
  const same = existing?.sso_credential === name;
  const row = await writer.ssoCredentials.find(name);
  if (!row && !same) throw invalidField(field, 'names no credential: log in first');
  if (row && !same) context.sso.gates.require(row.profile, field);
  const { protocols } = row ? loginProfiles[row.profile] : { protocols: [protocol] };
  if (!protocols.includes(protocol)) throw invalidField('protocol', `is not one of the protocols of this login: ${protocols.join(', ')}`);
  const reason = unavailability(row, context.sso.gates);
  const id = row && ssoKeyId(row.id);
  const kept = existing?.api_keys.find((key) => same && (id === undefined || key.id === id));
  const key = kept ?? { id: id ?? '', sealed: '', weight: 1, account: row?.account ?? row?.id ?? '' };
  return { api_keys: [key], ...(reason !== undefined && { unavailable: reason }) };
}

/** Keys as admins see them: that of a login is none of theirs. */
export const ownKeys = ({ sso_credential: credential, api_keys: keys }: Pick<UpstreamDocument, 'sso_credential' | 'api_keys'>): SealedUpstreamKey[] =>
  credential ? [] : keys;
