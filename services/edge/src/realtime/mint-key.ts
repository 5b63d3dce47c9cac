/** Short-lived keys, for browsers that shall not have an access key: asked for with one, made by a translator. No model is called, so no row is left. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type RealtimeKind } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { Projection, RepeatedKey, scanBody } from '@model-gateway/json-bytes';
import { shortLivedKeyPaths } from '@model-gateway/protocols';
import { isGranted, resolveName } from '@model-gateway/routing';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import { authenticate } from '../admission/credentials.ts';
import { ownerOf } from '../admission/owner.ts';
import { requireUtf8, scanRefusal } from '../admission/read-wanted.ts';
import { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import { type Headers, protocolOfPrefix } from '../http/client-routes.ts';
import { readBody } from '../http/read-body.ts';

type KeyPath = (typeof shortLivedKeyPaths)[number];

/** The sessions whose keys are asked for at a path (without a query); undefined: none are. */
export const shortLivedKeysAt = (path: string): KeyPath | undefined => shortLivedKeyPaths.find((known) => known.path === path);

const maxBodyBytes = 256 * 1024;
/** What the other headers of a handshake may need. */
const otherHeaders = 4096;
const [minSeconds, usualSeconds, maxSeconds] = [10, 600, 7200];

/** Never rejects. */
export async function mintKey(request: IncomingMessage, response: ServerResponse, path: KeyPath, context: EdgeContext): Promise<void> {
  const exchange = new ClientExchange(request, response, { protocol: protocolOfPrefix(request.url ?? '/') }, context);
  try {
    if (request.method !== 'POST') throw new GatewayError('method_not_allowed', { headers: { allow: 'POST' } });
    await mint(exchange, path, context);
  } catch (cause) {
    const error = toGatewayError(cause);
    if (error.code === 'internal') context.reporting.logger.error({ request: exchange.id, error: error.cause ?? error }, 'defect in making a key');
    exchange.writeError(error);
  }
}

async function mint(exchange: ClientExchange, { protocol, kinds }: KeyPath, { admission, bus, catalog, config, mintId }: EdgeContext): Promise<void> {
  const { request } = exchange;
  exchange.holdSlot(await admission.capacity.enter());
  await admission.rateLimits.admitAddress(exchange.clientIp);
  const snapshot = catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  const principal = authenticate(request, new URLSearchParams(request.url?.split('?', 2)[1]), snapshot, exchange.startedAt);
  await admission.rateLimits.admitKey(principal);
  if (!headersAllowed(principal.group.header_acl, request.headers as Headers)) throw new GatewayError('header_denied');
  const parent = ownerOf(principal);
  if (parent === undefined) throw new GatewayError('not_ready');
  const body = await readBody(request, { maxBytes: Math.min(maxBodyBytes, config.maxBodyBytes) }, admission.bodyBudget);
  exchange.holdBody(body);
  const { session, seconds } = readWanted(body.bytes);
  exchange.dropBody();
  const kind = readKind(session, kinds);
  const model = protocol.upstream?.realtime?.[kind]?.modelOf(session);
  if (model !== undefined && !isGranted(principal.group, resolveName(snapshot, model).canonical))
    throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${model.slice(0, 200)}.` });
  const expiresAt = (Math.floor(exchange.startedAt / 1000) + seconds) * 1000;
  const { value } = await bus.ask('realtime.mint-key', {
    parent,
    parentHash: principal.key.hash,
    expiresAt,
    kind,
    ...(model !== undefined && { model }),
    session: JSON.stringify(session),
    maxLength: config.maxHeaderBytes - otherHeaders,
  });
  const shown = { id: mintId('sess_'), object: objectOf[kind], type: kind, ...session };
  exchange.answer(200, JSON.stringify({ value, expires_at: expiresAt / 1000, session: shown }), { 'cache-control': 'no-store' });
}

const objectOf: Readonly<Record<RealtimeKind, string>> = {
  realtime: 'realtime.session',
  transcription: 'realtime.transcription_session',
  translation: 'realtime.translation_session',
  live: 'live.session',
  bidi: 'live.session',
};

type Fields = Record<string, unknown>;

const refusal = (message: string, param: string): GatewayError => new GatewayError('invalid_request', { message, param });

function readWanted(bytes: Buffer): { session: Fields; seconds: number } {
  const { session = {}, expires_after: expiry = {} } = bytes.length === 0 ? {} : parse(bytes);
  if (!isObject(session)) throw refusal('session must be an object.', 'session');
  if (!isObject(expiry)) throw refusal('expires_after must be an object.', 'expires_after');
  const { anchor = 'created_at', seconds = usualSeconds } = expiry;
  if (anchor !== 'created_at') throw refusal('The only anchor is created_at.', 'expires_after.anchor');
  if (!Number.isInteger(seconds) || (seconds as number) < minSeconds || (seconds as number) > maxSeconds)
    throw refusal(`expires_after.seconds must be a whole number from ${minSeconds} to ${maxSeconds}.`, 'expires_after.seconds');
  return { session, seconds: seconds as number };
}

const wanted = new Projection([
  { path: ['session'], depth: 'value' },
  { path: ['expires_after'], depth: 'value' },
]);

/** A key that is given twice is refused, as in any body: readers differ in which of its values counts. */
function parse(bytes: Buffer): Fields {
  requireUtf8(bytes);
  const { session } = scan(bytes, ['session', 'expires_after']);
  if (session?.kind === 'object') scan(bytes.subarray(session.start, session.end), ['type', 'model']);
  try {
    return wanted.read(bytes).value as Fields;
  } catch (cause) {
    if (cause instanceof RepeatedKey) throw new GatewayError('duplicate_key', { message: 'A key is given twice in one object.' });
    throw new GatewayError('invalid_json', { cause });
  }
}

function scan<const Key extends string>(bytes: Buffer, keys: readonly Key[]) {
  const found = scanBody(bytes, { keys, distinctKeys: true });
  if (!found.ok) throw scanRefusal(found);
  return found.values;
}

function readKind({ type }: Fields, kinds: readonly RealtimeKind[]): RealtimeKind {
  const kind = type === undefined ? kinds[0] : kinds.find((one) => one === type);
  if (!kind) throw refusal(`session.type must be ${kinds.join(' or ')}.`, 'session.type');
  return kind;
}
