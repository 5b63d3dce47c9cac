/** One MCP server as the gateway sees it: how it is spoken to, which tools it has, whether it is well. */
import { isObject, type McpServerRecord, type McpServerStatus, type McpToolStatus } from '@model-gateway/contracts';
import type { SharedState } from '@model-gateway/distributed-state';
import type { Logger, Redactor } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { parseJson } from '../protocol/raw-json.ts';
import { errorCodes, isModern, modernVersion, modernVersions, sessionVersions } from '../protocol/versions.ts';
import { ServerFault, sendHttp, TooLargeFault } from './http.ts';
import { ServerLimits } from './limits.ts';
import { listTools, ownParams } from './list-tools.ts';
import { ModernPeer } from './modern-peer.ts';
import { handshakeMs, type OnNotification, type Peer, type PeerInfo, type Target } from './peer.ts';
import { PeerPool, type PeerUser } from './pool.ts';
import { RestPeer } from './rest-peer.ts';
import { describeRefusal, openSession } from './session-peer.ts';
import { openSseSession } from './sse-peer.ts';
import { readTools, type Tool } from './tool.ts';

export interface ServerDeps {
  outbound: Outbound;
  logger: Logger;
  redactor: Redactor;
  /** Where its limits are counted. */
  state: SharedState;
  /** Sent as the name of the client. */
  version: string;
  /** Names of tools that are not as an admin approved them. */
  changedTools?: (server: McpServerRecord, tools: readonly Tool[], peek?: boolean) => Promise<readonly string[]>;
}

/** What opens a server's secrets gives. */
export interface Access {
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** `unknown`: nobody has asked yet. */
export type HealthState = 'unknown' | 'healthy' | 'unhealthy';

/** The gateway's own connection. */
const self: PeerUser = { owner: '', session: null, capabilities: '{}', prefersSession: false };

const probeFailures = 3;
const callFailures = 5;
const debounceMs = 100;
/** How long lists wait for tools that were never loaded, from when they were asked for; those of other servers come all the same. */
export const loadMs = 5_000;
/** Characters of a description, to admins. */
const maxShown = 500;
/** Of all descriptions of a server together, in bytes: what admins are shown crosses the bus as one message, of 1 MiB at most. */
const maxShownBytes = 384 * 1024;

export class McpServer {
  record: McpServerRecord;
  readonly limits: ServerLimits;
  readonly #deps: ServerDeps;
  readonly #pool = new PeerPool();
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #access: Access;
  #era: Promise<void> | undefined;
  /** It speaks the newer revision alone. */
  #refusesSessions = false;
  #modern: Peer | undefined;
  #tools: readonly Tool[] | undefined;
  #faults: readonly string[] = [];
  #all: readonly Tool[] = [];
  #changedNames: ReadonlySet<string> = new Set();
  #loading: Promise<void> | undefined;
  #loadedAt = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #loadingSince = 0;
  #lastLoadFailed = false;
  #failures = { probes: 0, calls: 0 };
  #timer: NodeJS.Timeout | undefined;
  #refresh: NodeJS.Timeout | undefined;
  state: HealthState = 'unknown';
  /** Why it is not well, for operators. */
  reason: string | null = null;

  constructor(record: McpServerRecord, access: Access, deps: ServerDeps) {
    this.record = record;
    this.#access = access;
    this.#deps = deps;
    this.limits = new ServerLimits(record.name, deps.state);
    this.#pool.idleMs = record.idle_timeout_secs * 1000;
    this.#schedule(record.defer_loading ? record.health_check.interval_secs * 1000 : 0);
  }

  get name(): string {
    return this.record.name;
  }

  /** undefined: never loaded. */
  get tools(): readonly Tool[] | undefined {
    return this.#tools;
  }

  /** Age of the tools, in ms. */
  get toolsAge(): number {
    return this.#tools === undefined ? Number.POSITIVE_INFINITY : performance.now() - this.#loadedAt;
  }

  /** Milliseconds since its tools were last asked for, with or without success. */
  get sinceAsked(): number {
    return performance.now() - this.#askedAt;
  }

  /** Milliseconds for which its tools have been asked for; 0 when they are not. */
  get loadingFor(): number {
    return this.#loading ? performance.now() - this.#loadingSince : 0;
  }

  /** Its tools could not be had when they were last asked for: what is known of them, if anything, may have changed. */
  get isStale(): boolean {
    return this.#loading ? this.#lastLoadFailed || this.loadingFor >= loadMs : this.#lastLoadFailed;
  }

  get isWell(): boolean {
    return this.state !== 'unhealthy';
  }

  get sessions(): number {
    return this.#pool.size;
  }

  /** Called when its tools, or whether it is well, changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Settings that need no new connection. */
  adopt(record: McpServerRecord, access: Access): void {
    this.record = record;
    this.#access = access;
    this.#pool.idleMs = record.idle_timeout_secs * 1000;
    this.#changed();
  }

  /** The tools, loaded if they never were. Rejects with ServerFault. */
  async load(): Promise<readonly Tool[]> {
    if (this.#tools === undefined) await this.reload();
    return this.#tools ?? [];
  }

  reload(): Promise<void> {
    if (this.#loading) return this.#loading;
    this.#loadingSince = performance.now();
    const done = (failed: boolean): void => {
      this.#lastLoadFailed = failed;
      this.#loading = undefined;
      this.#askedAt = performance.now();
    };
    this.#loading = this.#load().then(
      () => done(false),
      (error: unknown) => {
        done(true);
        this.#noteUnread(error);
        throw error;
      },
    );
    return this.#loading;
  }

  /** Runs `work` with the connection of this caller. Rejects with ServerFault. */
  use<T>(user: PeerUser, onNotification: OnNotification | undefined, work: (peer: Peer) => Promise<T>): Promise<T> {
    return this.#pool.use(user, () => this.#open(user, onNotification), work);
  }

  findPeer(user: PeerUser): Peer | undefined {
    return this.#pool.find(user);
  }

  dropSessions(matches: (owner: string, session: string | null) => boolean): Promise<void> {
    return this.#pool.drop((owner, session) => owner !== '' && matches(owner, session));
  }

  /** How a call went: a row of failures means that the server is not well. One that sent too much has answered. */
  noteCall(error: unknown): void {
    if (error === undefined || error instanceof TooLargeFault) {
      this.#failures.calls = 0;
      if (this.state === 'unknown') this.#setState('healthy', null);
      return;
    }
    if (++this.#failures.calls >= callFailures) this.#setState('unhealthy', this.#reasonOf(error));
  }

  /** One look at the server now. */
  async probe(): Promise<void> {
    const { connection_type: kind, health_check: check } = this.record;
    const signal = AbortSignal.any([AbortSignal.timeout(check.timeout_secs * 1000), this.#closed.signal]);
    // A REST service has no handshake. That it can be reached says nothing of its operations: one that failed calls is on trial afterwards.
    const onlyReached = check.path === null && kind === 'rest_bridge';
    // Its tools are in its configuration: they are known before it can be reached.
    if (kind === 'rest_bridge' && this.#tools === undefined && !this.record.defer_loading) await this.reload().catch(() => undefined);
    try {
      await (check.path !== null ? this.#fetchHealth(check.path, signal) : onlyReached ? this.#reach(signal) : this.#handshake(signal));
      this.#failures = { probes: 0, calls: !onlyReached ? 0 : this.isWell ? this.#failures.calls : callFailures - 1 };
      this.#setState('healthy', null);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#era = undefined;
      const reason = signal.aborted ? `The server did not answer within ${check.timeout_secs} s.` : this.#reasonOf(error);
      this.#failures.probes++;
      if (this.#failures.probes >= probeFailures || this.state === 'unhealthy') this.#setState('unhealthy', reason);
      else this.reason = reason;
      return;
    }
    if (!this.record.defer_loading || this.#tools !== undefined) await this.reload().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#refresh);
    this.limits.close();
    await this.#pool.close();
  }

  readonly #target = (): Target => this.#access;

  #schedule(ms: number): void {
    this.#timer = setTimeout(async () => {
      await this.probe();
      if (!this.#closed.signal.aborted) this.#schedule(this.record.health_check.interval_secs * 1000);
    }, ms).unref();
  }

  async #handshake(signal: AbortSignal): Promise<void> {
    const peer = this.#pool.find(self) ?? this.#modern;
    if (!peer)
      return void (await withSignal(
        this.use(self, this.#own, async () => undefined),
        signal,
      ));
    const modern = peer.era === 'modern';
    const reply = await peer.request({
      method: modern ? 'server/discover' : 'ping',
      params: modern ? this.#meta('{}') : undefined,
      signal,
      silenceMs: handshakeMs,
    });
    // Who answers is there: some servers do not know the question.
    if (reply.kind === 'error' && (reply.status >= 500 || reply.status === 401 || reply.status === 403)) throw new ServerFault(describeRefusal(reply));
  }

  async #fetchHealth(path: string, signal: AbortSignal): Promise<void> {
    // Not resolved as a link: `//host` would lead the credentials to another origin.
    const url = `${new URL(this.#access.url).origin}${path}`;
    const { status } = await sendHttp(this.#deps.outbound, {
      method: 'GET',
      url,
      headers: this.#access.headers,
      answerMs: handshakeMs,
      idleMs: handshakeMs,
      signal,
    });
    if (status < 200 || status > 299) throw new ServerFault(`The health check at ${path} answered ${status}.`);
  }

  /** Whatever it answers at its endpoint, unless that comes from a proxy before it. */
  async #reach(signal: AbortSignal): Promise<void> {
    const { url, headers } = this.#access;
    const { status } = await sendHttp(this.#deps.outbound, { method: 'HEAD', url, headers, answerMs: handshakeMs, idleMs: handshakeMs, signal });
    if (status >= 502 && status <= 504) throw new ServerFault(`The server answered ${status}.`);
  }

  async #open(user: PeerUser, onNotification: OnNotification | undefined): Promise<Peer> {
    const { record } = this;
    const { outbound } = this.#deps;
    const options = { outbound, target: this.#target };
    if (record.connection_type === 'rest_bridge') return new RestPeer({ ...options, config: record.extra_config });
    const own = {
      ...options,
      capabilities: user.capabilities,
      clientInfo: { name: 'model-gateway', version: this.#deps.version },
      onNotification: onNotification ?? (() => undefined),
    };
    const signal = AbortSignal.any([AbortSignal.timeout(handshakeMs), this.#closed.signal]);
    if (record.transport === 'sse') return openSseSession(own, signal);
    this.#era ??= this.#findEra(signal);
    try {
      await this.#era;
    } catch (error) {
      this.#era = undefined;
      throw error;
    }
    const open = () => openSession({ ...own, listens: onNotification !== undefined || user.capabilities !== '{}' }, signal);
    if (!this.#modern) return open();
    if (!user.prefersSession || this.#refusesSessions) return this.#modern;
    try {
      return await open();
    } catch (error) {
      if (signal.aborted) throw error;
      this.#refusesSessions = true;
      return this.#modern;
    }
  }

  /** Asks in modern terms; a server that does not know them speaks with sessions. */
  async #findEra(signal: AbortSignal): Promise<void> {
    const discover = async (version: string) => {
      const info: PeerInfo = { version, capabilities: {}, instructions: undefined };
      const asked = new ModernPeer({ outbound: this.#deps.outbound, target: this.#target, info });
      return { peer: asked, reply: await asked.request({ method: 'server/discover', params: this.#meta('{}'), signal, silenceMs: handshakeMs }) };
    };
    let { peer, reply } = await discover(modernVersion);
    const named = reply.kind === 'error' && reply.code === errorCodes.unsupportedVersion ? supportedIn(reply.error) : [];
    const spoken = modernVersions.find((known) => named.includes(known));
    // Who refuses a revision names all that may be asked for instead. What a server discloses otherwise may leave out those with sessions: libraries do.
    this.#refusesSessions = named.length > 0 && !sessionVersions.some((known) => named.includes(known));
    // It is asked once more, in those terms.
    if (spoken !== undefined) ({ peer, reply } = await discover(spoken));
    if (reply.kind === 'error') {
      if (reply.status === 401 || reply.status === 403 || reply.status === 429) throw new ServerFault(describeRefusal(reply));
      const isModernError = reply.code === errorCodes.headerMismatch || reply.code === errorCodes.missingCapability;
      this.#modern = isModernError ? peer : undefined;
      return;
    }
    const said = parseJson(reply.result);
    const versions = isObject(said) && Array.isArray(said['supportedVersions']) ? said['supportedVersions'] : [];
    const version = modernVersions.find((known) => versions.includes(known));
    const { capabilities, instructions } = isObject(said) ? said : ({} as Record<string, unknown>);
    this.#modern =
      version === undefined && !versions.some((one) => typeof one === 'string' && isModern(one))
        ? undefined
        : new ModernPeer({
            outbound: this.#deps.outbound,
            target: this.#target,
            info: {
              version: version ?? modernVersion,
              capabilities: isObject(capabilities) ? capabilities : {},
              instructions: typeof instructions === 'string' ? instructions : undefined,
            },
          });
  }

  /** The gateway's own words in a modern request. */
  #meta(capabilities: string): string {
    return ownParams(this.#deps.version, capabilities);
  }

  readonly #own: OnNotification = ({ method }) => {
    if (method !== 'notifications/tools/list_changed') return;
    this.refreshSoon();
  };

  /** The server said that its tools changed. */
  refreshSoon(): void {
    clearTimeout(this.#refresh);
    this.#refresh = setTimeout(() => void this.reload().catch(() => undefined), debounceMs).unref();
  }

  async #load(): Promise<void> {
    const { texts, isCut } = await this.use(self, this.#own, (peer) => listTools(peer, this.#deps.version, this.#closed.signal));
    const { tools, faults: unread } = readTools(texts);
    tools.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#all = tools;
    this.#changedNames = await this.#changedAmong(tools);
    const offered = tools.filter(({ name }) => !this.#isHeld(name));
    const faults = [...(isCut ? [`Of its tools the first ${texts.length} alone are offered: it lists more.`] : []), ...unread];
    this.#faults = [...new Set(faults)].slice(0, 20);
    if (this.#faults.length > 0) this.#deps.logger.warn({ server: this.name, faults: this.#faults }, 'tools of an MCP server are not offered');
    this.#loadedAt = performance.now();
    const before = this.#tools;
    this.#tools = offered;
    if (before === undefined || before.length !== offered.length || before.some(({ text }, at) => text !== offered[at]?.text)) this.#changed();
  }

  /** Shows operators why its tools could not be had; logged once for each reason. */
  #noteUnread(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    const reason = this.#reasonOf(error);
    if (this.#faults.length === 1 && this.#faults[0] === reason) return;
    this.#faults = [reason];
    this.#deps.logger.warn({ server: this.name, reason }, 'tools of an MCP server cannot be read');
  }

  /** What was approved is asked for each time; while the console is away the last answer counts. */
  async #changedAmong(tools: readonly Tool[]): Promise<ReadonlySet<string>> {
    try {
      const changed = await this.#deps.changedTools?.(this.record, tools);
      const fresh = changed?.filter((name) => !this.#changedNames.has(name)) ?? [];
      if (fresh.length > 0) this.#deps.logger.warn({ server: this.name, tools: fresh.slice(0, 20) }, 'tools of an MCP server differ from what was approved');
      return new Set(changed);
    } catch (error) {
      this.#deps.logger.warn({ error, server: this.name }, 'tools of an MCP server cannot be compared with what was approved');
      return this.#changedNames;
    }
  }

  #isHeld(name: string): boolean {
    return this.record.hold_changed_tools === true && this.#changedNames.has(name);
  }

  /** As admins see it; with its tools, or only their number. */
  status(whole: boolean): McpServerStatus {
    const { state, reason } = this;
    const length = Math.min(maxShown, Math.floor(maxShownBytes / 3 / Math.max(1, this.#all.length)));
    const show = ({ name, description, tokens }: Tool): McpToolStatus => ({
      name,
      description: whole ? description.slice(0, length) : '',
      tokens,
      changed: this.#changedNames.has(name),
      held: this.#isHeld(name),
    });
    return {
      name: this.name,
      state,
      reason,
      sessions: this.sessions,
      stale: this.isStale,
      faults: [...this.#faults],
      tools: this.#tools === undefined ? null : this.#all.map(show),
    };
  }

  /**
   * What is offered to a caller's own session, which may be other tools than the gateway's own connection sees, or described otherwise.
   * null: the server keeps nothing for the session. Rejects with ServerFault.
   */
  async toolsOfSession(user: PeerUser, onNotification: OnNotification | undefined, signal: AbortSignal): Promise<Tool[] | null> {
    const listed = await this.use(user, onNotification, async (peer) => (peer.hasState ? listTools(peer, this.#deps.version, signal) : null));
    if (!listed) return null;
    const { tools } = readTools(listed.texts);
    if (this.record.hold_changed_tools !== true) return tools;
    // What the gateway's own connection was sent too has been compared already.
    const own = new Map(this.#all.map(({ name, hash }) => [name, hash]));
    const isOwn = ({ name, hash }: Tool): boolean => own.get(name) === hash;
    const held = await this.#heldAmong(tools.filter((tool) => !isOwn(tool)));
    return tools.filter((tool) => (isOwn(tool) ? !this.#isHeld(tool.name) : !held.has(tool.name)));
  }

  /** Of tools that a session alone was sent: admins are not shown these, so that comparing them must not change what they approve. All, where nobody can compare. */
  async #heldAmong(tools: readonly Tool[]): Promise<ReadonlySet<string>> {
    if (tools.length === 0) return new Set();
    try {
      return new Set(await this.#deps.changedTools?.(this.record, tools, true));
    } catch {
      return new Set(tools.map(({ name }) => name));
    }
  }

  /** A server may repeat what it was sent, credentials too. */
  #reasonOf(error: unknown): string {
    return error instanceof ServerFault ? this.#deps.redactor.redactKnown(error.message) : 'The server could not be asked.';
  }

  #setState(state: HealthState, reason: string | null): void {
    this.reason = reason;
    if (state === this.state) return;
    const wasWell = this.isWell;
    this.state = state;
    if (state === 'unhealthy') this.#deps.logger.warn({ server: this.name, reason }, 'an MCP server is unhealthy: its tools are not offered');
    else this.#deps.logger.info({ server: this.name }, 'an MCP server is healthy');
    if (wasWell !== this.isWell) this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The revisions that a server speaks, by its error for one that it does not. */
function supportedIn(error: string): readonly unknown[] {
  const said = parseJson(error);
  const data = isObject(said) ? said['data'] : undefined;
  return isObject(data) && Array.isArray(data['supported']) ? data['supported'] : [];
}

const withSignal = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ServerFault('The server did not answer in time.')), { once: true });
    }),
  ]);
