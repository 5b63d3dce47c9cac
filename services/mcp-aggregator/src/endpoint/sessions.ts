/**
 * Sessions of callers who speak the revisions that have them. The id says all there is to know of a session and is signed, so that every process can go on
 * with it; the process that opened it, whose name it begins with, has the connections to servers that belong to it.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isObject, mcpSessionForm } from '@model-gateway/contracts';
import { LRUCache } from 'lru-cache';
import type { Message } from '../protocol/json-rpc.ts';
import { parseJson } from '../protocol/raw-json.ts';
import type { Reply } from './reply.ts';

/** What an id says. */
interface Claims {
  owner: string;
  /** Name of the one server, or null for all. */
  scope: string | null;
  version: string;
  /** JSON text: what the caller can do for servers. */
  capabilities: string;
}

export interface Session extends Claims {
  id: string;
  /** Streams on which the caller listens. */
  listeners: Set<Reply>;
  /** What servers asked of the caller, by the id that it was asked under. */
  asked: Map<string, (message: Message & { kind: 'result' | 'error' }) => void>;
  nextQuestion: number;
}

const maxSessions = 20_000;
const maxCapabilities = 4096;
const idleMs = 24 * 3_600_000;
const macBytes = 18;

export class Sessions {
  readonly #process: string;
  readonly #keys: () => readonly Buffer[];
  readonly #known = new LRUCache<string, Session>({ max: maxSessions, ttl: idleMs, updateAgeOnGet: true });
  readonly #ended = new LRUCache<string, true>({ max: maxSessions, ttl: idleMs });

  constructor(process: string, keys: () => readonly Buffer[]) {
    this.#process = process;
    this.#keys = keys;
  }

  /** undefined: no session can be opened yet. */
  open(claims: Claims): Session | undefined {
    const [key] = this.#keys();
    if (!key) return undefined;
    const { owner, scope, version, capabilities } = claims;
    const said = JSON.stringify([
      digest(owner),
      scope,
      version,
      capabilities.length > maxCapabilities ? '{}' : capabilities,
      randomBytes(9).toString('base64url'),
    ]);
    const body = `${this.#process}.${Buffer.from(said, 'utf8').toString('base64url')}`;
    return this.#keep(`${body}.${sign(body, key)}`, claims);
  }

  /** null: it is not a session of this caller at this address, or it has ended. */
  find(id: string, owner: string, scope: string | null): Session | null {
    if (this.#ended.has(id)) return null;
    const known = this.#known.get(id);
    if (known) return known.owner === owner && known.scope === scope ? known : null;
    const [, process, said, mac] = mcpSessionForm.exec(id) ?? [];
    if (process === undefined || said === undefined || mac === undefined) return null;
    const sent = Buffer.from(mac);
    if (!this.#keys().some((key) => timingSafeEqual(Buffer.from(sign(`${process}.${said}`, key)), sent))) return null;
    const claims = parseJson(Buffer.from(said, 'base64url').toString('utf8'));
    if (!Array.isArray(claims) || claims[0] !== digest(owner) || claims[1] !== scope) return null;
    const [, , version, capabilities] = claims as string[];
    if (!isObject(parseJson(capabilities ?? ''))) return null;
    return this.#keep(id, { owner, scope, version: version ?? '', capabilities: capabilities ?? '{}' });
  }

  end(session: Session): void {
    this.#ended.set(session.id, true);
    this.#known.delete(session.id);
    for (const listener of session.listeners) listener.close();
  }

  /** All that this process knows. */
  *all(): Iterable<Session> {
    yield* this.#known.values();
  }

  #keep(id: string, claims: Claims): Session {
    const session: Session = { ...claims, id, listeners: new Set(), asked: new Map(), nextQuestion: 1 };
    this.#known.set(id, session);
    return session;
  }
}

const digest = (owner: string): string => createHash('sha256').update(owner).digest('base64url').slice(0, 16);
const sign = (text: string, key: Buffer): string =>
  createHmac('sha256', key).update(`mcp-session/${text}`).digest().subarray(0, macBytes).toString('base64url');
