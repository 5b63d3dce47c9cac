/** What admins change of a credential: what is said of it, and that its tokens are forgotten. Tokens come by a login alone. */
import { isDeepStrictEqual } from 'node:util';
import { ssoStates } from '@model-gateway/contracts';
import type { LoginProfile } from '@model-gateway/protocols/login';
import type { SsoCredential } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid, invalidField, Problem } from '../problem.ts';
import { etagMatches, etagOf, type Precondition } from '../resources/etag.ts';
import { isMasked, upstreamKeyMask } from '../resources/upstream-keys.ts';
import { readInput } from '../validation/read-input.ts';
import { findCredential, readSettings } from './credentials.ts';

/** What a change may say. */
export const changeBody = z
  .strictObject({
    description: z.string().max(2000).nullable().describe('null: none'),
    settings: z
      .record(z.string().max(64), z.string().max(65_536).nullable())
      .nullable()
      .describe('Those that are named; null: the usual value again, of one or of all'),
    state: z.enum(ssoStates).describe('revoked: forgets its tokens, and only a new login helps; the others mean nothing'),
  })
  .partial();
type Change = z.output<typeof changeBody>;

/** Of replies; sent back with a whole object they mean nothing. */
const readOnly = new Set([
  'id',
  'enabled',
  'reason',
  'way_out',
  'expires_at',
  'refreshed_at',
  'refresh_due_at',
  'upstreams',
  'etag',
  'created_at',
  'updated_at',
]);
/** Of replies as well, but another value would be a wish that is not granted. */
const fixed: Readonly<Record<string, string>> = {
  name: 'cannot be changed: upstreams refer to it',
  profile: 'cannot be changed: log in under another name',
  account: 'cannot be changed: it is the one of the login; log in under another name',
};

/** What a change did; `changed` is empty where everything was so already. */
export interface ChangedCredential {
  before: SsoCredential;
  changed: Record<string, { before: unknown; after: unknown }>;
}

/** A refresh changes the row as well: a caller that named no revision is not concerned by it. */
const tries = 10;

/** Merges: absent stays, null resets. `ifMatch`: the header of that name. Throws 404, 412 and 422. */
export async function changeCredential(name: string, body: unknown, ifMatch: Precondition, { storage, sso }: ConsoleContext): Promise<ChangedCredential> {
  const { fields, sent, etag } = readFields(body);
  const change = readInput(changeBody, fields);
  for (let tried = 0; tried < tries; tried++) {
    const row = await findCredential(name, { storage });
    etagMatches(row.version, ifMatch);
    etagMatches(row.version, etag);
    refuseOthers(sent, row);
    const wanted = applyChange(row, change, sso.gates.require(row.profile));
    const changed = differences(row, wanted);
    if (Object.keys(changed).length === 0) return { before: row, changed };
    const patch = wanted.state === row.state ? wanted : { ...wanted, refreshAt: null, refreshingUntil: null };
    if ((await storage.ssoCredentials.update(row.id, row.version, patch)) !== null) return { before: row, changed };
  }
  throw new Problem('precondition_failed');
}

/** `fields`: what the schema reads. `sent`: what must be as it is. */
function readFields(body: unknown): { fields: Record<string, unknown>; sent: [string, unknown][]; etag: Precondition } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidField('body', 'must be an object');
  const all = Object.entries(body).filter(([field]) => !readOnly.has(field));
  const isFixed = ([field]: [string, unknown]): boolean => Object.hasOwn(fixed, field) || field === 'tokens';
  return { fields: Object.fromEntries(all.filter((one) => !isFixed(one))), sent: all.filter(isFixed), etag: etagOf(body as Record<string, unknown>) };
}

/** Throws 422. */
function refuseOthers(sent: readonly [string, unknown][], row: SsoCredential): void {
  const faults = sent.flatMap(([field, value]): Detail[] => {
    if (field !== 'tokens') return value === row[field as 'name' | 'profile' | 'account'] ? [] : [{ field, message: fixed[field]! }];
    const isAsShown = value === null ? row.tokens === null : typeof value === 'string' && isMasked(value);
    return isAsShown ? [] : [{ field, message: 'come only from a login or an import; state: "revoked" removes them' }];
  });
  if (faults.length > 0) throw invalid(faults);
}

type Wanted = Pick<SsoCredential, 'description' | 'settings' | 'state' | 'tokens'>;

function applyChange(row: SsoCredential, { description, settings, state }: Change, profile: LoginProfile): Wanted {
  const isRevoked = state === 'revoked';
  return {
    description: description === undefined ? row.description : (description ?? ''),
    settings: settings === undefined ? row.settings : changedSettings(profile, row.settings, settings),
    state: isRevoked ? 'revoked' : row.state,
    tokens: isRevoked ? null : row.tokens,
  };
}

/** Throws 422. */
function changedSettings(profile: LoginProfile, before: Readonly<Record<string, string>>, change: Readonly<Record<string, string | null>> | null) {
  const kept = change === null ? {} : Object.fromEntries(Object.entries(before).filter(([name]) => change[name] !== null));
  const given = Object.fromEntries(Object.entries(change ?? {}).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]])));
  const read = readSettings(profile, given, kept);
  const secrets = Object.keys(read.secrets);
  if (secrets.length > 0)
    throw invalid(secrets.map((name) => ({ field: `settings.${name}`, message: 'is a secret setting: import the credential again with it' })));
  return { ...kept, ...read.settings };
}

/** What is said of a credential, field by field, for the audit log. */
export function differences(row: Wanted, wanted: Partial<Wanted>): ChangedCredential['changed'] {
  const shown = ({ tokens, ...said }: Partial<Wanted>) => ({ ...said, ...(tokens !== undefined && { tokens: tokens === null ? null : upstreamKeyMask }) });
  const [old, young] = [shown(row), shown(wanted)];
  const names = Object.keys(young) as (keyof typeof young)[];
  return Object.fromEntries(names.flatMap((name) => (isDeepStrictEqual(old[name], young[name]) ? [] : [[name, { before: old[name], after: young[name] }]])));
}
