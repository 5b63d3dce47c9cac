/** Calls of the console API from the command line. */
import { ConfigError, loadConfig } from '@model-gateway/config';
import { consoleSecretOf } from '../key-files.ts';

export interface ApiClient {
  call(method: string, path: string, body?: string, contentType?: string): Promise<{ status: number; text: string }>;
}

/** `--url` (default: this machine's gateway) and the secret of CONSOLE_SECRET_KEY, else of the data folder. */
export function createApiClient(url: string | undefined, env: NodeJS.ProcessEnv): ApiClient {
  const config = loadConfig({ env });
  const secret = consoleSecretOf(config);
  if (secret === null) throw new ConfigError(`CONSOLE_SECRET_KEY is not set, and ${config.process.dataDir} holds none; accepted: the gateway's console secret`);
  const base = (url ?? `http://127.0.0.1:${config.edge.port}`).replace(/\/+$/, '');
  return {
    async call(method, path, body, contentType) {
      let response: Response;
      try {
        response = await fetch(`${base}/console/api${path}`, {
          method,
          redirect: 'error',
          headers: { authorization: `Bearer ${secret}`, ...(contentType !== undefined && { 'content-type': contentType }) },
          ...(body !== undefined && { body }),
        });
      } catch (cause) {
        throw new ConfigError(`--url: nothing answers at ${base}; accepted: the address of a running gateway`, { cause });
      }
      return { status: response.status, text: await response.text() };
    },
  };
}
