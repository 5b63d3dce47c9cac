/** Carries one request of a caller to a server, whatever era each of them speaks. */
import { isObject } from '@model-gateway/contracts';
import { applyEdits, type Edit } from '@model-gateway/json-bytes';
import { type Message, printError, printNotification, printRequest, printResult } from '../protocol/json-rpc.ts';
import { membersOfText, parseJson } from '../protocol/raw-json.ts';
import { type Era, errorCodes, metaKeys, modernVersion } from '../protocol/versions.ts';
import { callSilenceMs, type Peer, type PeerReply } from '../servers/peer.ts';
import { askableOf, askInputs, maxRounds, readWanted, type Wanted } from './ask-inputs.ts';
import type { Conversation } from './conversation.ts';
import type { Reply } from './reply.ts';
import type { Session } from './sessions.ts';

/** A request on its way to a server. */
export interface Relayed {
  method: string;
  /** As the caller wrote it. */
  params: string | undefined;
  /** What the server calls the tool, where the caller calls it otherwise. */
  rename?: string | undefined;
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  era: Era;
  session: Session | null;
  reply: Reply;
  signal: AbortSignal;
  version: string;
  /** JSON text: the caller's. */
  id: string;
  /** Of a caller of the newer era, which sends what a server of an older one asked for. */
  conversation?: Conversation | undefined;
}

let nextToken = 1;

/** Rejects with ServerFault. */
export async function relay(peer: Peer, relayed: Relayed): Promise<PeerReply> {
  const questions: string[] = [];
  try {
    return await carry(peer, relayed, questions);
  } finally {
    // What the caller did not answer by now is not waited for: the session may go on for a day.
    for (const id of questions) relayed.session?.asked.delete(id);
  }
}

/** `questions`: ids of what the server asks the caller meanwhile. */
async function carry(peer: Peer, relayed: Relayed, questions: string[]): Promise<PeerReply> {
  const { method, session, reply, signal } = relayed;
  const written = relayed.params === undefined ? {} : parseJson(relayed.params);
  const params = isObject(written) ? written : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : undefined;
  const token = meta?.['progressToken'];
  const ownToken = token === undefined ? undefined : `gw-${nextToken++}`;
  const said = relayed.rename ?? params['name'] ?? params['uri'];
  const first = adaptParams(peer, relayed, meta, ownToken);
  const ask = (params: string | undefined): Promise<PeerReply> =>
    peer.request({
      method,
      params,
      ...(typeof said === 'string' && (method === 'tools/call' || method === 'prompts/get' || method === 'resources/read') && { name: said }),
      ...(peer.era === 'modern' && relayed.headers && { headers: relayed.headers }),
      signal,
      silenceMs: callSilenceMs,
      onMessage: (message) => {
        if (message.kind === 'notification') passNotification(message, relayed, relayed.conversation?.progressToken ?? token);
        else askCaller(message, peer, relayed, questions);
      },
    });
  let answer = await ask(first);
  const asksBack = peer.era === 'modern' && relayed.era === 'session';
  for (let round = 0; asksBack && round < maxRounds; round++) {
    const wanted = answer.kind === 'result' ? readWanted(answer.result) : null;
    const inputs = wanted && (await askInputs(wanted, session, reply, signal));
    if (!wanted || !inputs) break;
    answer = await ask(withInputs(first, inputs, wanted));
  }
  if (answer.kind === 'error') return answer;
  if (asksBack && method !== 'tools/call' && readWanted(answer.result)) return unanswered;
  return { ...answer, result: adaptResult(answer.result, method, peer.era, relayed.era) };
}

const withInputs = (params: string | undefined, inputs: Record<string, unknown>, { state }: Wanted): string =>
  applyEdits(params ?? '{}', [
    { path: ['inputResponses'], value: inputs, add: true },
    ...(state === undefined ? [] : [{ path: ['requestState'], value: parseJson(state), add: true }]),
  ]);

const cannotBeAsked = 'The MCP server asks for input that this client cannot be asked for.';
/** Only a tool's result can say of itself that it failed. */
const unanswered: PeerReply = {
  kind: 'error',
  error: JSON.stringify({ code: errorCodes.server, message: cannotBeAsked, data: { code: 'input_required' } }),
  code: errorCodes.server,
  status: 200,
};

const ownMeta = [metaKeys.version, metaKeys.client, metaKeys.capabilities, metaKeys.logLevel];

/** The caller's params in the terms of the server's era; what is not about eras stays as it was written. */
function adaptParams(
  peer: Peer,
  { params, rename, era, version, session }: Relayed,
  meta: Record<string, unknown> | undefined,
  token: string | undefined,
): string | undefined {
  const edits: Edit[] = rename === undefined ? [] : [{ path: ['name'], value: rename }];
  if (token !== undefined) edits.push({ path: ['_meta', 'progressToken'], value: token });
  if (peer.era === 'modern') {
    const wanted: [string, unknown][] = [[metaKeys.version, peer.info.version || modernVersion]];
    if (era === 'session') wanted.push([metaKeys.client, { name: 'model-gateway', version }], [metaKeys.capabilities, askableOf(session)]);
    if (meta) for (const [key, value] of wanted) edits.push({ path: ['_meta', key], value, add: true });
    else edits.push({ path: ['_meta'], value: Object.fromEntries(wanted), add: true });
  } else if (era === 'modern' && meta) {
    const left = Object.keys(meta).filter((key) => !ownMeta.includes(key as never));
    if (left.length === 0) edits.push({ path: ['_meta'], value: undefined });
    else for (const key of ownMeta) if (Object.hasOwn(meta, key)) edits.push({ path: ['_meta', key], value: undefined });
  }
  if (params === undefined && peer.era === 'session') return undefined;
  return applyEdits(params ?? '{}', edits);
}

const listed = /^(?:tools|resources|prompts)\/list$|^resources\/(?:templates\/list|read)$/;

/** A result in the terms of the caller's era. */
export function adaptResult(result: string, method: string, from: Era, to: Era): string {
  if (from === to) return result;
  if (to === 'modern') {
    const edits: Edit[] = [{ path: ['resultType'], value: 'complete', add: true }];
    if (listed.test(method)) edits.push({ path: ['ttlMs'], value: 0, add: true }, { path: ['cacheScope'], value: 'private', add: true });
    return applyEdits(result, edits);
  }
  const { resultType } = membersOfText(result, ['resultType']) ?? {};
  if (resultType !== undefined && resultType !== '"complete"') {
    return JSON.stringify({ content: [{ type: 'text', text: cannotBeAsked }], isError: true });
  }
  return applyEdits(result, [
    { path: ['resultType'], value: undefined },
    { path: ['ttlMs'], value: undefined },
    { path: ['cacheScope'], value: undefined },
  ]);
}

function passNotification({ method, params }: Message & { kind: 'notification' }, relayed: Relayed, token: unknown): void {
  const { id, method: asked } = relayed;
  const reply = relayed.conversation?.reply ?? relayed.reply;
  if (asked === 'subscriptions/listen') {
    const own = params === undefined ? params : applyEdits(params, [{ path: ['_meta', metaKeys.subscription], value: parseJson(id) }]);
    return reply.event(printNotification(method, own));
  }
  const text = method === 'notifications/progress' && params !== undefined ? applyEdits(params, [{ path: ['progressToken'], value: token ?? null }]) : params;
  // Nobody asked for it.
  if (method === 'notifications/progress' && token === undefined) return;
  reply.event(printNotification(method, text));
}

/** What a server asks while it works on a call: callers with a session answer meanwhile, those of the newer era come back with the answer, others cannot be asked. */
function askCaller(message: Message & { kind: 'request' }, peer: Peer, { session, reply, conversation }: Relayed, questions: string[]): void {
  const { id, method, params } = message;
  const answer = (message: string): void => void peer.answer(message).catch(() => undefined);
  if (method === 'ping') return answer(printResult(id, '{}'));
  const refuse = (text: string): void => answer(printError(id, JSON.stringify({ code: errorCodes.methodNotFound, message: text })));
  if (conversation?.ask(message, (result) => (result === null ? refuse('The client did not answer.') : answer(printResult(id, result))))) return;
  if (session === null || reply.ended) return refuse('The client cannot be asked.');
  const asked = `gw-${session.nextQuestion++}`;
  session.asked.set(asked, (message) => answer(message.kind === 'result' ? printResult(id, message.result) : printError(id, message.error)));
  questions.push(asked);
  reply.event(printRequest(JSON.stringify(asked), method, params));
}
