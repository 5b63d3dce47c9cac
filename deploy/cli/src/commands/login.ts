/** `model-gateway login [profile]`: gives an upstream its credential by a login at its vendor, through the console of a running gateway. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ConfigError } from '@model-gateway/config';
import { renderUnicodeCompact } from 'uqr';
import { type ApiClient, createApiClient, NoAnswerError } from './api-client.ts';

interface Profile {
  id: string;
  name: string;
  note: string;
  experimental: boolean;
  flows: string[];
}

/** As the console shows a login under way. */
interface Login {
  id: string;
  status: 'pending' | 'done' | 'failed';
  error: string | null;
  user_code: string | null;
  verification_uri: string | null;
  verification_uri_complete: string | null;
  interval_ms: number | null;
  authorize_url: string | null;
  expires_at: string;
  credential: string | null;
  upstream: string | null;
  upstream_error: string | null;
}

const options = {
  name: { type: 'string' },
  upstream: { type: 'string' },
  'base-url': { type: 'string' },
  flow: { type: 'string' },
  account: { type: 'string' },
  set: { type: 'string', multiple: true },
  paste: { type: 'boolean', default: false },
  replace: { type: 'boolean', default: false },
  qr: { type: 'boolean' },
  url: { type: 'string' },
} as const;

export async function login(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const client = createApiClient(values.url, env);
  const { items: profiles } = await ask<{ items: Profile[] }>(client, 'GET', '/sso-profiles');
  const [id] = positionals;
  if (id === undefined) return void process.stdout.write(`model-gateway login PROFILE, where PROFILE is one of:\n${listProfiles(profiles)}`);
  const profile = profiles.find((one) => one.id === id);
  if (!profile)
    throw new ConfigError(
      `"${id}" is not an enabled login; accepted: ${profiles.map((one) => one.id).join(', ') || '[sso.profiles.<id>] enabled = true, and a restart'}`,
    );
  const given = {
    name: values.name ?? profile.id,
    profile: profile.id,
    settings: readSettings(values.set ?? []),
    ...(values.account !== undefined && { account: values.account }),
    ...(values.replace && { replace: true }),
    ...(values.upstream !== undefined && { upstream: { name: values.upstream, ...(values['base-url'] !== undefined && { base_url: values['base-url'] }) } }),
  };
  const flow = values.paste ? 'paste' : (values.flow ?? profile.flows[0]);
  if (profile.note !== '') process.stdout.write(`${profile.note}\n`);
  if (flow === 'device') report(await byDevice(client, given, values.qr ?? process.stdout.isTTY));
  else if (flow === 'code') report(await byBrowser(client, given));
  else report(await byImport(client, given, flow === 'machine' ? undefined : readPasted()));
}

const listProfiles = (profiles: readonly Profile[]): string =>
  profiles.map(({ id, name, flows, experimental }) => `  ${id.padEnd(18)} ${name} (${flows.join(', ')})${experimental ? ', experimental' : ''}\n`).join('');

/** `region=eu-west-1`. */
function readSettings(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [name = '', value] = text.split(/=(.*)/s, 2);
      if (value === undefined) throw new ConfigError('--set has no value; accepted: NAME=VALUE');
      return [name, value];
    }),
  );
}

async function ask<T>(client: ApiClient, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? [] : ([JSON.stringify(body), 'application/json'] as const);
  const { status, text } = await client.call(method, path, ...sent);
  if (status < 300) return JSON.parse(text) as T;
  throw new RefusedError(status, messageOf(text));
}

/** The console answered, and did not do it. */
class RefusedError extends ConfigError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(`the login was refused (${status}): ${message}`);
    this.status = status;
  }
}

const awayMs = 1_000;

/** A login under way is kept in the database: a gateway that is away for a while, or whose console is, costs nothing but time, until the login's own end. */
async function persistently<T>({ expires_at: end }: Login, work: () => Promise<T>): Promise<T> {
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof NoAnswerError || (error instanceof RefusedError && error.status === 503);
      if (!isAway || Date.now() > Date.parse(end)) throw error;
      if (!isSaid) process.stdout.write('The gateway does not answer; the login goes on when it does.\n');
      await sleep(awayMs);
    }
  }
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return 'the gateway gave no reason';
  }
}

/** Never an argument: other users of the machine can see those. */
function readPasted(): string {
  if (process.stdin.isTTY) process.stdout.write('Paste what the vendor or its client wrote, then press Ctrl-D:\n');
  return readFileSync(0, 'utf8');
}

/** A machine identity has nothing to paste. */
async function byImport(client: ApiClient, given: object, tokens: string | undefined): Promise<Partial<Login>> {
  const { credential, ...made } = await ask<{ credential: { name: string }; upstream: string | null; upstream_error: string | null }>(
    client,
    'POST',
    '/sso-credentials/import',
    { ...given, ...(tokens !== undefined && { tokens }) },
  );
  return { status: 'done', credential: credential.name, ...made };
}

/** `withCode`: a phone can read the address from the screen; a file or a pipe has no use for that. */
async function byDevice(client: ApiClient, given: object, withCode: boolean): Promise<Login> {
  let state = await ask<Login>(client, 'POST', '/sso-credentials/login', { ...given, flow: 'device' });
  const page = state.verification_uri_complete ?? state.verification_uri ?? '';
  if (withCode) process.stdout.write(`${renderUnicodeCompact(page, { border: 2 })}\n`);
  process.stdout.write(`Open ${page}\nand check that it shows the code ${state.user_code}\n`);
  while (state.status === 'pending') {
    await sleep(state.interval_ms ?? 5_000);
    state = await persistently(state, () => ask<Login>(client, 'GET', `/sso-credentials/login/${state.id}`));
  }
  return state;
}

/**
 * Listens on this machine alone, on a port of the moment, for the visit of the browser. Where the browser runs elsewhere, the address that it was sent to is
 * pasted instead.
 */
async function byBrowser(client: ApiClient, given: object): Promise<Login> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const begun = await ask<Login>(client, 'POST', '/sso-credentials/login', { ...given, flow: 'code', redirect_url: redirect });
    process.stdout.write(`Open ${begun.authorize_url}\nIf the browser then shows a page that cannot be reached, paste the whole address of that page here.\n`);
    const complete = (visited: string) => ask<Login>(client, 'POST', `/sso-credentials/login/${begun.id}/complete`, { redirect_url: visited });
    for await (const visited of visitsOf(server, redirect)) {
      try {
        return await persistently(begun, () => complete(visited));
      } catch (error) {
        // The address was not the one; the login is still there.
        if (!(error instanceof RefusedError) || error.status !== 422) throw error;
        process.stdout.write(`${error.message}\n`);
      }
    }
    throw new ConfigError('the login was not completed');
  } finally {
    server.closeAllConnections();
    server.close();
    process.stdin.destroy();
  }
}

/** Addresses that the browser came to, or that were pasted. Never ends by itself: the browser may come when nobody can paste any more. */
async function* visitsOf(server: Server, redirect: string): AsyncGenerator<string> {
  const visits: string[] = [];
  let wake = (): void => undefined;
  const add = (visited: string): void => {
    visits.push(visited);
    wake();
  };
  server.on('request', (request, response) => {
    const visited = new URL(request.url ?? '/', redirect);
    if (visited.pathname !== '/callback') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('You may close this page and go back to the command line.\n');
    add(visited.href);
  });
  createInterface({ input: process.stdin }).on('line', (line) => line.trim() !== '' && add(line.trim()));
  for (;;) {
    const visited = visits.shift();
    if (visited !== undefined) yield visited;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

function report({ status, error, credential, upstream, upstream_error: fault }: Partial<Login>): void {
  if (status !== 'done') throw new ConfigError(`the login failed: ${error ?? 'the vendor gave no reason'}`);
  process.stdout.write(`The credential ${credential} is there.\n`);
  if (upstream) process.stdout.write(`The upstream ${upstream} uses it.\n`);
  if (fault) process.stdout.write(`${fault}\n`);
}
