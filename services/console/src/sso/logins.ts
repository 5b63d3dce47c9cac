/** Logins under way: begun, looked at until they end, completed. They are kept sealed, so that any console may go on with one. */
import { randomUUID } from 'node:crypto';
import { sealedAs } from '@model-gateway/contracts';
import { completeSettings, type LoginFlow, type LoginProfile } from '@model-gateway/protocols/login';
import type { SsoCredential, SsoLogin } from '@model-gateway/storage';
import { isoTime } from '../api/answers/iso-time.ts';
import type { ConsoleContext } from '../context.ts';
import { invalidField, Problem } from '../problem.ts';
import { refuseNewName } from '../validation/new-name.ts';
import type { MadeUpstream, NewUpstream } from './create-upstream.ts';
import { type NewCredential, readSettings, takeIn } from './credentials.ts';
import { beginCode, exchangeCode, readRedirect } from './flows/code-flow.ts';
import { beginDevice, pollDevice } from './flows/device-flow.ts';
import type { LoginContent } from './login-content.ts';
import type { PastedTokens } from './pasted-tokens.ts';
import { TokenFault } from './token-http.ts';
import { openTokens } from './tokens.ts';

const codeLifeMs = 10 * 60_000;
/** A login that has ended is shown so long. */
const shownMs = 10 * 60_000;

export interface NewLogin extends NewCredential {
  flow?: LoginFlow | undefined;
  redirect_url?: string | undefined;
  upstream?: NewUpstream | undefined;
}

/** What is done with the credential of a login that succeeded, by who looked at it. */
export type AfterLogin = (row: SsoCredential, content: LoginContent) => Promise<MadeUpstream>;

/** One login with its content. */
interface Opened {
  login: SsoLogin;
  content: LoginContent;
}

export async function beginLogin({ flow: asked, redirect_url: redirectUrl, upstream, ...given }: NewLogin, context: ConsoleContext) {
  const { storage, sso } = context;
  const profile = sso.gates.require(given.profile);
  const flow = asked ?? profile.flows[0];
  if (!profile.flows.includes(flow as LoginFlow) || (flow !== 'device' && flow !== 'code'))
    throw invalidField(
      'flow',
      `is not a flow that can begin here: ${profile.flows.filter((one) => one === 'device' || one === 'code').join(', ') || 'use import'}`,
    );
  const existing = await storage.ssoCredentials.find(given.name);
  if (!existing) refuseNewName(given.name, 'name');
  else if (!given.replace) throw new Problem('conflict', 'There is already a credential of this name.', [{ field: 'name', message: 'is taken' }]);
  const settings = await settingsOf(given, profile, context);
  const flowContext = { profile, settings, http: sso.http, now: sso.now };
  const begun = await asProblem(async () =>
    flow === 'device' ? beginDevice(flowContext) : { code: beginCode(flowContext, redirectUrl), expiresAt: sso.now() + codeLifeMs },
  );
  const { expiresAt, ...parts } = begun;
  const content: LoginContent = { given, upstream, ...parts };
  const login = { id: randomUUID(), version: 1, expiresAt, content: '' };
  await storage.ssoCredentials.addLogin({ ...login, content: seal(login.id, content, context) });
  return showLogin({ login, content });
}

/** Of the credential that exists, what was not given anew. Throws 422. */
async function settingsOf(given: NewCredential, profile: LoginProfile, { storage, keyring }: ConsoleContext): Promise<Readonly<Record<string, string>>> {
  const existing = await storage.ssoCredentials.find(given.name);
  const kept = existing?.profile === profile.id ? existing : undefined;
  const secrets = kept?.tokens ? openTokens(keyring, kept.id, kept.tokens).secrets : {};
  const before = { ...kept?.settings, ...Object.fromEntries(Object.entries(secrets).filter(([name]) => profile.settings[name]?.secret)) };
  readSettings(profile, given.settings ?? {}, before);
  return completeSettings(profile, { ...before, ...given.settings });
}

const seal = (id: string, content: LoginContent, { keyring }: ConsoleContext): string => keyring.seal(JSON.stringify(content), sealedAs.ssoLogin(id));

async function open(id: string, { storage, keyring }: ConsoleContext): Promise<Opened> {
  const login = await storage.ssoCredentials.findLogin(id);
  if (!login) throw new Problem('not_found', 'There is no such login: it ended, or its code expired. Begin another one.');
  return { login, content: JSON.parse(keyring.open(login.content, sealedAs.ssoLogin(id))) as LoginContent };
}

/** Asks the vendor where its interval has passed. */
export async function lookAtLogin(id: string, after: AfterLogin, context: ConsoleContext) {
  const opened = await open(id, context);
  const { login, content } = opened;
  const { device } = content;
  const { storage, sso } = context;
  if (!device || content.end || sso.now() < device.askAt) return showLogin(opened);
  // Who writes first asks.
  const claimed: LoginContent = { ...content, device: { ...device, askAt: sso.now() + device.intervalMs } };
  if (!(await storage.ssoCredentials.updateLogin(id, login.version, seal(id, claimed, context)))) return showLogin(opened);
  const mine = { ...login, version: login.version + 1 };
  const profile = sso.gates.require(content.given.profile);
  const settings = await settingsOf(content.given, profile, context);
  let end: LoginContent['end'];
  try {
    const polled = await pollDevice(device, { profile, settings, http: sso.http, now: sso.now });
    if ('pending' in polled) {
      const { intervalMs } = polled.pending;
      const waiting: LoginContent = { ...content, device: { ...device, intervalMs, askAt: sso.now() + intervalMs } };
      await storage.ssoCredentials.updateLogin(id, mine.version, seal(id, waiting, context));
      return showLogin({ login, content: waiting });
    }
    end = await finish(polled.tokens, content, after, context);
  } catch (error) {
    if (error instanceof TokenFault && !error.terminal) return showLogin({ login, content: claimed });
    end = failed(error);
  }
  return endLogin({ login: mine, content }, end, context);
}

/** The address that the vendor's page sent the browser back to. */
export async function completeLogin(id: string, redirectUrl: string, after: AfterLogin, context: ConsoleContext) {
  const { login, content } = await open(id, context);
  const { code: codeLogin } = content;
  const { storage, sso } = context;
  if (!codeLogin) throw invalidField('redirect_url', 'is not for this login: enter its code at the page of the vendor');
  const profile = sso.gates.require(content.given.profile);
  const settings = await settingsOf(content.given, profile, context);
  const code = await asProblem(async () => readRedirect(redirectUrl, codeLogin, { settings }));
  // A code is of one use, and so is the login that it ends.
  if (!(await storage.ssoCredentials.removeLogin(id))) throw new Problem('not_found', 'This login has been completed already.');
  const tokens = await asProblem(() => exchangeCode(code, codeLogin, { profile, settings, http: sso.http, now: sso.now }));
  const end = await finish(tokens, content, after, context);
  return showLogin({ login, content: { ...content, end } });
}

async function finish(tokens: PastedTokens, content: LoginContent, after: AfterLogin, context: ConsoleContext): Promise<NonNullable<LoginContent['end']>> {
  const row = await takeIn(content.given, tokens, context);
  return { credential: row.name, error: null, ...(await after(row, content)) };
}

function failed(error: unknown): NonNullable<LoginContent['end']> {
  if (!(error instanceof TokenFault) && !(error instanceof Problem)) throw error;
  return { credential: null, error: error.message, upstream: null, upstream_error: null };
}

/** What it held is of no use any more. */
async function endLogin({ login, content }: Opened, end: LoginContent['end'], context: ConsoleContext) {
  const ended: LoginContent = { given: content.given, ...(end && { end }) };
  await context.storage.ssoCredentials.updateLogin(login.id, login.version, seal(login.id, ended, context));
  return showLogin({ login: { ...login, expiresAt: Math.min(login.expiresAt, context.sso.now() + shownMs) }, content: ended });
}

const asProblem = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TokenFault) throw new Problem('upstream_credential', error.message);
    throw error;
  }
};

function showLogin({ login, content: { given, device, code, end } }: Opened) {
  return {
    id: login.id,
    name: given.name,
    profile: given.profile,
    status: end ? (end.error === null ? ('done' as const) : ('failed' as const)) : ('pending' as const),
    error: end?.error ?? null,
    user_code: device?.userCode ?? null,
    verification_uri: device?.verificationUri ?? null,
    verification_uri_complete: device?.verificationUriComplete ?? null,
    interval_ms: device?.intervalMs ?? null,
    authorize_url: code?.authorizeUrl ?? null,
    expires_at: isoTime(login.expiresAt),
    credential: end?.credential ?? null,
    upstream: end?.upstream ?? null,
    upstream_error: end?.upstream_error ?? null,
  };
}
