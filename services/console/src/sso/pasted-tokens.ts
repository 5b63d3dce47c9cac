/** Reads what people paste: the token file of another client, or a bare refresh token. What they pasted is never repeated to them. */
import { invalidField } from '../problem.ts';
import { expiryOf, readTokens, textOf } from './grants/read-tokens.ts';

type Body = Readonly<Record<string, unknown>>;

/** What was pasted. */
export interface PastedTokens {
  /** null: the first refresh gives one. */
  access_token: string | null;
  refresh_token: string | null;
  expires_at: number | null;
  account?: string | undefined;
  /** Of the same file: where it belongs. */
  settings: Record<string, string>;
  secrets: Record<string, string>;
}

const expected = 'expected the JSON that the vendor or its client wrote (with access_token or refresh_token in it), or a refresh token by itself';
const bareToken = /^[\x21-\x7e]{8,16384}$/;

/** Throws 422 that says what was expected. */
export function readPastedTokens(text: string, now: number, field = 'tokens'): PastedTokens {
  const given = text.trim();
  if (given.startsWith('{')) return readJson(given, now, field);
  if (/^https?:\/\//i.test(given))
    throw invalidField(
      field,
      `is an address: paste the address that the vendor sent the browser back to into the login that it belongs to; here is ${expected}`,
    );
  if (!bareToken.test(given)) throw invalidField(field, expected);
  return { access_token: null, refresh_token: given, expires_at: 0, settings: {}, secrets: {} };
}

function readJson(text: string, now: number, field: string): PastedTokens {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    throw invalidField(field, `is not valid JSON; ${expected}`);
  }
  const body = findTokens(whole as Body);
  if (!body) throw invalidField(field, expected);
  const refresh = textOf(body, 'refresh_token', 'refreshToken') ?? null;
  const clientId = textOf(body, 'client_id', 'clientId');
  const clientSecret = textOf(body, 'client_secret', 'clientSecret');
  const region = textOf(body, 'region');
  const startUrl = textOf(body, 'start_url', 'startUrl');
  const access = textOf(body, 'access_token', 'accessToken') === undefined ? null : readTokens(body, now);
  const account = access?.account ?? textOf(body, 'account_id', 'profileArn');
  return {
    access_token: access?.access_token ?? null,
    refresh_token: refresh,
    expires_at: access ? expiryOf(body, now) : 0,
    ...(account !== undefined && { account }),
    settings: { ...(region !== undefined && { region }), ...(startUrl !== undefined && { start_url: startUrl }) },
    // A client without a secret is a setting; with one, both belong to this login alone.
    secrets: clientId !== undefined && clientSecret !== undefined ? { client_id: clientId, client_secret: clientSecret } : {},
  };
}

/** Clients wrap their tokens once: `{"tokens": {…}}` and such. */
function findTokens(whole: Body): Body | undefined {
  const holds = (value: unknown): value is Body =>
    typeof value === 'object' && value !== null && textOf(value as Body, 'access_token', 'accessToken', 'refresh_token', 'refreshToken') !== undefined;
  return holds(whole) ? whole : Object.values(whole).find(holds);
}
