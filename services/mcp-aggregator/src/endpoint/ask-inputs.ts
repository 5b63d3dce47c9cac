/**
 * What a server of the newer era wants to know before it goes on (`input_required`), for a caller of the older one that has a session: it is asked in the stream
 * of its call, as servers with sessions ask, and the server is asked again with the answers.
 */
import { isObject } from '@model-gateway/contracts';
import { printRequest } from '../protocol/json-rpc.ts';
import { membersOfText, parseJson } from '../protocol/raw-json.ts';
import type { Reply } from './reply.ts';
import type { Session } from './sessions.ts';

/** How often one call may ask. */
export const maxRounds = 8;
const maxQuestions = 20;
/** A person may have to answer. */
const answerMs = 10 * 60_000;

/** By the method of a question: what a caller says at its start that it can do. */
const capabilities: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

interface Question {
  key: string;
  method: string;
  /** JSON text. */
  params: string | undefined;
}

/** The questions of a server, and what it wants to be given back with the answers (JSON text). */
export interface Wanted {
  questions: Question[];
  state: string | undefined;
}

/** null: a result that asks for nothing. */
export function readWanted(result: string): Wanted | null {
  const { resultType, inputRequests, requestState } = membersOfText(result, ['resultType', 'inputRequests', 'requestState']) ?? {};
  if (resultType !== '"input_required"') return null;
  const asked = inputRequests === undefined ? undefined : parseJson(inputRequests);
  const keys = isObject(asked) ? Object.keys(asked).slice(0, maxQuestions) : [];
  const texts = membersOfText(inputRequests ?? '{}', keys) ?? {};
  const questions = keys.map((key): Question => {
    const { method, params } = membersOfText(texts[key] ?? '{}', ['method', 'params']) ?? {};
    const name = method === undefined ? undefined : parseJson(method);
    return { key, method: typeof name === 'string' ? name : '', params };
  });
  return { questions, state: requestState };
}

/** Whether a caller with these capabilities can be asked this. */
export const canBeAsked = (method: string, able: Record<string, unknown>): boolean => Object.hasOwn(able, capabilities.get(method) ?? '');

/** What a server of the newer era may ask this caller for, as the request declares it. */
export const askableOf = (session: Session | null): Record<string, unknown> => askable(session === null ? undefined : parseJson(session.capabilities));

/** Of what a caller says that it can do: what it can be asked for. */
export function askable(said: unknown): Record<string, unknown> {
  if (!isObject(said)) return {};
  return Object.fromEntries([...capabilities.values()].flatMap((name) => (said[name] === undefined ? [] : [[name, said[name]]])));
}

/** The answers by the questions' keys. null: the caller cannot be asked this, does not answer, or refuses. */
export async function askInputs({ questions }: Wanted, session: Session | null, reply: Reply, signal: AbortSignal): Promise<Record<string, unknown> | null> {
  const able = askableOf(session);
  if (session === null || reply.ended || !questions.every(({ method }) => canBeAsked(method, able))) return null;
  const answers = await Promise.all(questions.map(async (question) => [question.key, await ask(question, session, reply, signal)] as const));
  return answers.some(([, answer]) => answer === undefined) ? null : Object.fromEntries(answers);
}

/** undefined: no answer. */
function ask({ method, params }: Question, session: Session, reply: Reply, signal: AbortSignal): Promise<unknown> {
  const id = `gw-${session.nextQuestion++}`;
  return new Promise((resolve) => {
    const settle = (answer: unknown): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      session.asked.delete(id);
      resolve(answer);
    };
    const leave = (): void => settle(undefined);
    const timer = setTimeout(leave, answerMs).unref();
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    session.asked.set(id, (message) => settle(message.kind === 'result' ? parseJson(message.result) : undefined));
    reply.event(printRequest(JSON.stringify(id), method, params));
  });
}
