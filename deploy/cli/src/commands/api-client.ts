/** Calls of the console API from the command line. */
import { ConfigError, loadConfig } from '@model-gateway/config';
import { ownAddress } from '../own-address.ts';
import { describeRefusal } from './refusal.ts';

/** Calls the console's API of a running gateway. */
export interface ApiClient {
  call(method: string, path: string, body?: string, contentType?: string): Promise<Reply>;
}

/** No gateway answers at the address now. */
export class NoAnswerError extends ConfigError {}

type Reply = { status: number; text: string };

/** The console, or a proxy in front of it, says that it is away: the same call may succeed later. */
export const isAway = (status: number): boolean => [502, 503, 504].includes(status);

/** `--url` (default: this machine's gateway), and CONSOLE_SECRET_KEY, or a sign-in as `admin` with CONSOLE_PASSWORD. */
export function createApiClient(url: string | undefined, env: NodeJS.ProcessEnv): ApiClient {
  const config = loadConfig({ env });
  const { secretKey, password } = config.console;
  if (secretKey === null && password === null)
    throw new ConfigError('CONSOLE_SECRET_KEY is not set, and neither is CONSOLE_PASSWORD; accepted: a credential of the running gateway');
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ConfigError(`--url "${url}" is not an address; accepted: http(s)://host[:port]`);
  const base = (url ?? ownAddress(config.edge)).replace(/\/+$/, '');
  let token = secretKey;

  const send = async (method: string, path: string, body?: string, contentType?: string): Promise<Reply> => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}/console/api${path}`, {
        method,
        redirect: 'manual',
        headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...(contentType !== undefined && { 'content-type': contentType }) },
        ...(body !== undefined && { body }),
      });
      text = await response.text();
    } catch (cause) {
      throw new NoAnswerError(`--url: nothing answers at ${base}; accepted: the address of a running gateway`, { cause });
    }
    // Something in front of the gateway, such as a sign-in page, or something else altogether.
    if (response.status < 400 && response.status !== 204 && !/\b(?:json|yaml)\b/.test(response.headers.get('content-type') ?? ''))
      throw new ConfigError(`--url: what answers at ${base} is not a model gateway (${response.status}); accepted: the address of a running gateway`);
    return { status: response.status, text };
  };
  const signIn = async (): Promise<void> => {
    token = null;
    const { status, text } = await send('POST', '/login', JSON.stringify({ username: 'admin', password }), 'application/json');
    if (status === 401) throw new ConfigError('CONSOLE_PASSWORD is refused (401); accepted: the password of the console user admin');
    if (status !== 200) throw new (isAway(status) ? NoAnswerError : ConfigError)(describeRefusal('the sign-in as admin', { status, text }));
    token = (JSON.parse(text) as { token: string }).token;
  };

  return {
    async call(...request) {
      if (token === null) await signIn();
      const reply = await send(...request);
      // A session ends; the command may go on for weeks (--watch).
      if (reply.status !== 401 || secretKey !== null) return reply;
      await signIn();
      return send(...request);
    },
  };
}
