/** Access tokens of Google Cloud: the key of a service account, a workload identity, or what the place has (application default credentials). */
import type { AuthClient, GoogleAuth } from 'google-auth-library';
import { TokenFault } from '../../token-http.ts';
import type { IssuedTokens } from '../../tokens.ts';
import type { Grant } from '../grant.ts';
import { readIdentityToken } from './identity-token.ts';
import { byLibrary } from './library-fault.ts';
import type { TokenFetch } from './token-fetch.ts';

type Library = typeof import('google-auth-library');
type Json = Readonly<Record<string, unknown>>;

export const googleCloud =
  (fetch: TokenFetch): Grant =>
  async ({ settings, now }) => {
    const library = await import('google-auth-library');
    const key = readKey(settings['key_json']);
    const scopes = (settings['scopes'] ?? '').split(/[ ,]+/).filter((scope) => scope !== '');
    const transporter = createTransporter(library, fetch);
    const client = key ? clientOf(key, { library, scopes, transporter }) : await defaultClient({ library, scopes, transporter });
    return { ...(await issuedBy(client, now)), ...accountOf(key) };
  };

/** The library would repeat by itself what fails; when a token is asked for again is for the refresher to say, whose lock has an end. */
function createTransporter({ gaxios }: Library, fetch: TokenFetch): Making['transporter'] {
  class Transporter extends gaxios.Gaxios {
    override request<T = unknown>(options: Parameters<Making['transporter']['request']>[0] = {}) {
      const { retryConfig: _retries, ...rest } = options;
      return super.request<T>({ ...rest, retry: false });
    }
  }
  return new Transporter({ fetchImplementation: fetch as never });
}

interface Making {
  library: Library;
  scopes: string[];
  transporter: InstanceType<Library['gaxios']['Gaxios']>;
}

/** Its own metadata address is the platform's, and none that an admin can choose: the library asks it by itself, past the guarded dialer, which refuses such addresses. */
const defaultClient = ({ library, scopes, transporter }: Making): Promise<AuthClient> =>
  byLibrary('The default credentials', async () => {
    const auth: GoogleAuth = new library.GoogleAuth({ scopes, clientOptions: { transporter } });
    return auth.getClient() as Promise<AuthClient>;
  });

function readKey(text: string | undefined): Json | null {
  if (text === undefined) return null;
  try {
    const key: unknown = JSON.parse(text);
    if (typeof key === 'object' && key !== null) return key as Json;
  } catch {
    // Said below; the text is secret.
  }
  throw new TokenFault('key_json', 'key_json is not a JSON object.', true);
}

const accountOf = (key: Json | null): { account?: string } => {
  const impersonated = /serviceAccounts\/([^/:]+):/.exec(String(key?.['service_account_impersonation_url'] ?? ''))?.[1];
  const account = key?.['client_email'] ?? impersonated;
  return typeof account === 'string' ? { account: account.slice(0, 200) } : {};
};

/** The kinds of keys that name no program to run and no file that is not checked. */
function clientOf(key: Json, { library, scopes, transporter }: Making): AuthClient {
  if (key['type'] === 'external_account') return poolClient(key, { library, scopes, transporter });
  const { client_email: email, private_key: privateKey, private_key_id: keyId } = key;
  if (key['type'] !== 'service_account' || typeof email !== 'string' || typeof privateKey !== 'string')
    throw new TokenFault('key_json', 'key_json must be the key of a service_account or the configuration of an external_account.', true);
  return new library.JWT({ email, key: privateKey, ...(typeof keyId === 'string' && { keyId }), scopes, transporter });
}

/** A workload identity whose token is kept in a file. */
function poolClient(key: Json, { library, scopes, transporter }: Making): AuthClient {
  const { file, format } = (key['credential_source'] ?? {}) as { file?: unknown; format?: { type?: unknown } };
  if (typeof file !== 'string' || (format?.type ?? 'text') !== 'text')
    throw new TokenFault('key_json', 'key_json must name its identity token by credential_source.file, as text.', true);
  class PoolClient extends library.IdentityPoolClient {
    constructor(options: ConstructorParameters<Library['IdentityPoolClient']>[0]) {
      super(options);
      // The library passes its way out on to everything but the exchange.
      Object.assign((this as unknown as { stsCredential: object }).stsCredential, { transporter });
    }
  }
  const { credential_source: _source, ...rest } = key;
  const getSubjectToken = (): Promise<string> => readIdentityToken({ token_file: file });
  const client = new PoolClient({ ...rest, subject_token_supplier: { getSubjectToken }, transporter } as never);
  client.scopes = scopes;
  return client;
}

async function issuedBy(client: AuthClient, now: () => number): Promise<IssuedTokens> {
  const { token } = await byLibrary('Google', () => client.getAccessToken());
  if (!token) throw new TokenFault('no_token', 'The vendor answered without a token.', false);
  const { expiry_date: expiresAt } = client.credentials;
  // Of the metadata service and of impersonation the library keeps no other moment.
  return { access_token: token.replace(/\.+$/, ''), expires_at: expiresAt ?? now() + 3_600_000 };
}
