/** Errors as the official SDKs raise them: each client protocol, each upstream protocol, in both arrangements. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import OpenAI from 'openai';
import { haveFixtures } from '../fake-upstream/fixtures.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { modelOf, scriptedModels } from '../support/scripted-models.ts';
import { type ClientProtocol, clientProtocols, startChat, type UpstreamProtocol, upstreamProtocols } from '../support/sdk-callers.ts';

/** What a client protocol's SDK raises: its own class for the status, which both OpenAI's and Anthropic's name alike. */
interface Raised {
  status: number | undefined;
  name: string;
  message: string;
  retryAfter: string | null;
  /** Vendor's word for the kind of error. */
  kind: string | null;
}

function raised(client: ClientProtocol, error: unknown): Raised {
  if (client === 'gamma') {
    if (!(error instanceof ApiError)) throw error;
    const { error: body } = JSON.parse(error.message) as { error: { code: number; status: string; message: string } };
    expect(body.code).toBe(error.status);
    return { status: error.status, name: 'ApiError', message: body.message, retryAfter: null, kind: body.status };
  }
  if (!(error instanceof (client === 'beta' ? Anthropic.APIError : OpenAI.APIError))) throw error;
  const body = error.error as { type?: string; error?: { type: string }; code?: string };
  return {
    status: error.status,
    name: error.constructor.name,
    message: error.message,
    retryAfter: error.headers?.get('retry-after') ?? null,
    kind: (client === 'beta' ? body.error?.type : body.code) ?? null,
  };
}

const classes: Record<number, string> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  429: 'RateLimitError',
  502: 'InternalServerError',
  503: 'InternalServerError',
};
/** One SDK has a class of its own for 503. */
const classOf = (client: ClientProtocol, status: number): string =>
  client === 'gamma' ? 'ApiError' : client === 'beta' && status === 503 ? 'ServiceUnavailableError' : classes[status]!;

/** Contract §3: what an upstream's answer becomes when it was the last word. */
const statuses = [
  { script: 'err:400', status: 400 },
  { script: 'err:401', status: 502 },
  { script: 'err:403', status: 502 },
  { script: 'err:404', status: 404 },
  { script: 'err:429:error:7', status: 429 },
  { script: 'err:500', status: 502 },
  { script: 'err:529', status: 503 },
] as const;
/** The word for each status by which clients decide what to do. */
const kinds: Record<ClientProtocol, Partial<Record<number, string>>> = {
  alpha: { 429: 'rate_limit_exceeded' },
  alpha_response: { 429: 'rate_limit_exceeded', 503: 'server_is_overloaded' },
  beta: { 400: 'invalid_request_error', 404: 'not_found_error', 429: 'rate_limit_error', 502: 'api_error', 503: 'overloaded_error' },
  gamma: { 400: 'INVALID_ARGUMENT', 404: 'NOT_FOUND', 429: 'RESOURCE_EXHAUSTED', 503: 'UNAVAILABLE' },
};
const overflow = [
  { upstream: 'alpha', name: 'err-400-context-length' },
  { upstream: 'alpha_response', name: 'err-400-context' },
  { upstream: 'beta', name: 'err-400-prompt-too-long' },
  { upstream: 'cloudhost_converse', name: 'err-400-too-long' },
] as const;
const overflowScript = (upstream: UpstreamProtocol): string[] =>
  overflow.filter((one) => one.upstream === upstream).map(({ name }) => `fixture/${upstream}/${name}/1`);

const matrix = clientProtocols.flatMap((client) =>
  upstreamProtocols.flatMap((upstream) =>
    statuses.flatMap((one) => [false, true].map((stream) => ({ client, upstream, form: stream ? 'streamed' : 'whole', stream, ...one }))),
  ),
);

describe.each(arrangements('sdk-errors'))('SDK errors on a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  const limited = mintAccessKey();
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      ...scriptedModels(fake.url, (protocol) => ['ok', ...statuses.map(({ script }) => script), ...overflowScript(protocol)]),
      key_groups: [{ name: 'few', models: ['alpha.other*'] }],
      access_keys: [{ name: 'limited', group: 'few', key: limited }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  async function fail(client: ClientProtocol, model: string, stream: boolean, key = gateway.key): Promise<Raised> {
    try {
      await startChat(client, { url: gateway.url, key }, model, { text: 'hi' }).send({ stream });
    } catch (error) {
      return raised(client, error);
    }
    throw new Error('the call succeeded');
  }

  test.each(matrix)('$client ← $upstream says $script, $form: $status', async ({ client, upstream, script, status, stream }) => {
    const error = await fail(client, modelOf(upstream, script), stream);
    expect(error).toMatchObject({ status, name: classOf(client, status) });
    const kind = kinds[client][status];
    if (kind !== undefined) expect(error.kind).toBe(kind);
    if (status === 400) expect(error.message).toContain('The fake upstream answers 400.');
    if (status === 502) expect(error.message).not.toContain('fake');
    if (status === 429 && client !== 'gamma') expect(error.retryAfter).toBe('7');
    expect(error.message).not.toContain('sk-fake');
  });

  const byForm = clientProtocols.flatMap((client) => [false, true].map((stream) => ({ client, form: stream ? 'streamed' : 'whole', stream })));

  test.each(byForm)('$client, $form: an unknown model is 404', async ({ client, stream }) => {
    const error = await fail(client, 'no-such-model', stream);
    expect(error).toMatchObject({ status: 404, name: classOf(client, 404) });
    expect(error.message).toContain('no-such-model');
  });

  test.each(byForm)('$client, $form: a wrong key is 401', async ({ client, stream }) => {
    for (const key of [mintAccessKey(), 'sk-something-else', gateway.key.slice(0, -1)])
      expect(await fail(client, modelOf('alpha', 'ok'), stream, key)).toMatchObject({ status: 401, name: classOf(client, 401) });
  });

  test.each(byForm)('$client, $form: a model that is not granted is 403', async ({ client, stream }) => {
    expect(await fail(client, modelOf('alpha', 'ok'), stream, limited)).toMatchObject({ status: 403, name: classOf(client, 403) });
    // Whether a name exists is told before whether it is granted.
    expect(await fail(client, 'no-such-model', stream, limited)).toMatchObject({ status: 404 });
  });

  if (!haveFixtures()) {
    test('recorded context overflows', () => {
      process.stderr.write('recorded context overflows DID NOT RUN: FIXTURES_DIR holds no recordings\n');
      expect(process.env['FIXTURES_REQUIRED']).not.toBe('1');
    });
    return;
  }

  test.each(clientProtocols.flatMap((client) => overflow.map((one) => ({ client, ...one }))))(
    'recorded context overflow: $client ← $upstream',
    async ({ client, upstream }) => {
      const error = await fail(client, modelOf(upstream, overflowScript(upstream)[0]!), true);
      expect(error).toMatchObject({ status: 400, name: classOf(client, 400) });
      // The words by which clients know that they must shorten the conversation.
      const sign = {
        alpha: /context_length_exceeded|maximum context length/,
        alpha_response: /context_length_exceeded/,
        beta: /prompt is too long/,
        gamma: /./,
      }[client];
      expect(`${error.kind} ${error.message}`).toMatch(sign);
    },
  );
});
