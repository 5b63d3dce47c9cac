/** Calls in an upstream's own terms: paths of callers that pass to any upstream, and upstreams that get every call as it came. */
import { type Operation, unaryOperations } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import { alpha } from '../alpha/index.ts';
import type { ClientAdapter, ClientError, Protocol, Target, UpstreamAdapter, VerbatimRules } from '../contract/index.ts';
import { asArray, asString, own } from '../kit/read.ts';
import { asReplies, asSeconds } from '../kit/reply-limits.ts';
import { credential, request } from './endpoint.ts';
import { routes } from './routes.ts';

const { client, upstream } = alpha as { client: ClientAdapter; upstream: UpstreamAdapter };
const { testCalls: _testCalls, cacheKey: _cacheKey, ...caller } = client;

/** The name of the model is exchanged where a body has one; every other byte stays, and the reply is not looked into. */
export const passedRules: VerbatimRules = {
  requestEdits: ({ target }) => ({ edits: [{ path: ['model'], value: target.upstreamModelId }], losses: [] }),
  createReply: () => ({ record: () => [], whole: () => [] }),
};

/** Where replies and events of conversations, and answers to questions, name the model. */
export const modelNames: readonly (readonly string[])[] = [['model'], ['modelVersion'], ['message', 'model'], ['response', 'model']];

/** Exchanges these names. `reply`: a whole one, or one event. */
export const modelNameEdits = (reply: unknown, model: string): Edit[] =>
  modelNames.flatMap((path): Edit[] => {
    const name = path.reduce<unknown>((holder, key) => own(holder, key), reply);
    return typeof name === 'string' && name !== model ? [{ path, value: model }] : [];
  });

/** Of two shapes at once: OpenAI's, and that of the native services, whose SDK reads `code` and `message` beside `request_id`. */
function writeError(error: ClientError): ReturnType<ClientAdapter['writeError']> {
  const { body, ...rest } = client.writeError(error);
  const { code, message, requestId } = error;
  return { ...rest, body: JSON.stringify({ ...(JSON.parse(body) as object), code, message, request_id: requestId }) };
}

/** What older image models make where nobody says how many. */
const usualImages = 4;

const served: readonly Operation[] = ['generate', 'count-tokens', 'complete', 'compact', ...unaryOperations.filter((operation) => operation !== 'native')];

export const passthrough: Protocol = {
  id: 'passthrough',
  kind: 'unary',
  title: 'Passed on as it is',
  client: {
    ...caller,
    routes,
    onlyVerbatim: {},
    editedKeys: [],
    keepsOtherModels: true,
    limitKeys: ['parameters'],
    // Of native services; of what else passes nobody knows what is asked for.
    readReplyLimits(value) {
      const parameters = value('parameters');
      const images = asReplies(own(parameters, 'n') ?? usualImages);
      return { output: 0, thinking: 0, replies: 1, images, seconds: asSeconds(own(parameters, 'duration')) };
    },
    bodyWords: [],
    keepAlive: () => null,
    writeError,
    passesErrors: true,
  },
  upstream: {
    passesAsIs: true,
    serves: () => served,
    passesVerbatim: () => true,
    framing: 'sse',
    request,
    credential,
    countsTokens: false,
    writeRequest: upstream.writeRequest,
    createReader: upstream.createReader,
    readWhole: upstream.readWhole,
    readTokenCount: () => null,
    readError: upstream.readError,
    verbatim: passedRules,
    listModels: upstream.listModels,
    readModelList: upstream.readModelList,
  },
};

/** The strings of a list in the configuration. A value of another type was meant to restrict as well: it counts as an empty list. null: not configured. */
function listed({ extraConfig }: Pick<Target, 'extraConfig'>, name: string): string[] | null {
  const setting = own(extraConfig, name);
  return setting === undefined ? null : (asArray(setting) ?? []).flatMap((entry) => asString(entry) ?? []);
}

/** Methods other than POST that a model takes below `/v3`: all at an upstream that gets calls as they are, else those that the configuration names. */
export function passedMethods(target: Pick<Target, 'extraConfig'>, asIs: boolean): readonly string[] {
  const named = listed(target, 'passthrough_methods')?.map((name) => name.toUpperCase());
  if (named) return ['POST', ...named.filter((name) => name !== 'POST')];
  return asIs ? ['POST', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] : ['POST'];
}

/** Patterns of the paths below `/v3/{model}/` to which the configuration narrows a model; null: all. */
export const passedPaths = (target: Pick<Target, 'extraConfig'>): readonly string[] | null =>
  listed(target, 'passthrough_paths')?.map((path) => path.replace(/^\/+/, '')) ?? null;

export { callBelow } from './endpoint.ts';
export { splitModel } from './raw-path.ts';
