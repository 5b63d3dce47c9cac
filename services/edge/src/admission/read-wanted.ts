/** What a request body asks for, read in one pass over its bytes. */
import { isUtf8 } from 'node:buffer';
import type { BodyKind, Job, StreamForm } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { decodeJsonString, type ScanFault, scanBody } from '@model-gateway/json-bytes';
import { findInlineFiles, shortestFile } from '@model-gateway/model-catalog';
import { type ClientAdapter, questionsOf, type RouteMatch } from '@model-gateway/protocols';
import { isFormType } from '@model-gateway/stream-framing';
import { readForm } from './read-form.ts';
import { sessionOfCacheKey } from './session.ts';

/** What decides the route of a request. */
export interface Wanted {
  model: string;
  stream: StreamForm;
  /** Absent: JSON. */
  body?: BodyKind;
  places: Job['places'];
  /** Of a form: the texts of those parts that limit its replies. */
  fields?: Readonly<Record<string, string>>;
  /** By the body. */
  sessionId: string | null;
}

/** A request's body as it came. */
interface SentBody {
  bytes: Buffer;
  contentType: string | undefined;
}

/**
 * Checks the body's shape and reads the names that decide the route, once and for all. `lastModel` finds the model of a session's last request,
 * for clients that name it once. Throws a GatewayError.
 */
export function readWanted(
  { bytes, contentType = '' }: SentBody,
  match: RouteMatch,
  client: ClientAdapter,
  lastModel: (session: string | null) => string | undefined,
): Wanted {
  if (match.body === 'raw') return rawWanted(match);
  if (match.body !== undefined && isFormType(contentType)) return formWanted(bytes, contentType, match, client);
  return jsonWanted(bytes, match, client, lastModel);
}

/** Nothing was looked for in a body that is not JSON. */
const noPlaces: Job['places'] = { questions: '', values: {}, end: 0, words: [] };

/** A body that nobody looks into: its path says all. */
function rawWanted({ model, stream }: RouteMatch): Wanted {
  if (model === undefined || stream === null) throw new Error('a route with raw bodies names model and form');
  return { model, stream, body: 'raw', places: noPlaces, sessionId: null };
}

function formWanted(bytes: Buffer, contentType: string, match: RouteMatch, { limitKeys = [] }: ClientAdapter): Wanted {
  const { model: inForm, field, files } = readForm(bytes, contentType, match);
  const model = match.model ?? inForm;
  if (!model) throw new GatewayError('invalid_request', { message: 'model is required.', param: 'model' });
  const stream = match.stream ?? match.readStream?.(field) ?? (field('stream') === 'true' ? 'sse' : 'whole');
  const fields: Record<string, string> = {};
  for (const key of limitKeys) {
    const text = field(key);
    if (text !== undefined) fields[key] = text;
  }
  return { model, stream, body: 'form', places: { ...noPlaces, files }, fields, sessionId: null };
}

function jsonWanted(bytes: Buffer, match: RouteMatch, client: ClientAdapter, lastModel: (session: string | null) => string | undefined): Wanted {
  const questions = questionsOf(client);
  requireUtf8(bytes);
  const scan = scanBody<string>(bytes, { ...questions, distinctKeys: true, longStrings: shortestFile });
  if (!scan.ok) throw scanRefusal(scan);
  const files = scan.longStrings.length === 0 ? undefined : findInlineFiles(bytes, scan.longStrings);
  const { model, stream } = scan.values;
  const cacheKey = client.cacheKey === undefined ? undefined : scan.values[client.cacheKey];
  const sessionId = cacheKey ? sessionOfCacheKey(bytes, cacheKey) : null;
  const named = match.model ?? (model?.kind === 'string' ? decodeJsonString(bytes, model.start, model.end) : undefined);
  const meant = named ?? (model || !client.remembersModel ? undefined : lastModel(sessionId));
  if (meant === undefined) throw new GatewayError('invalid_request', { message: model ? 'model must be a string.' : 'model is required.', param: 'model' });
  if (match.stream === null && !match.readStream && stream && stream.kind !== 'true' && stream.kind !== 'false' && stream.kind !== 'null')
    throw new GatewayError('invalid_request', { message: 'stream must be a boolean.', param: 'stream' });
  const topLevel = (key: string): unknown => {
    const place = Object.hasOwn(scan.values, key) ? scan.values[key] : undefined;
    return place && parseValue(bytes, place);
  };
  return {
    model: meant,
    stream: match.operation === 'count-tokens' ? 'whole' : (match.stream ?? match.readStream?.(topLevel) ?? (stream?.kind === 'true' ? 'sse' : 'whole')),
    places: { questions: questions.id, values: scan.values as Job['places']['values'], end: scan.end, words: scan.words, ...(files && { files }) },
    sessionId,
  };
}

/** Readers replace bytes that are not UTF-8 in ways of their own: two of them would see two bodies. */
export function requireUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { message: 'The request body is not valid UTF-8.' });
}

/** What the caller of a body gets that a scan has refused. */
export const scanRefusal = ({ code, message, param }: ScanFault): GatewayError =>
  new GatewayError(code === 'invalid_json' || code === 'duplicate_key' ? code : 'invalid_request', { message, ...(param !== undefined && { param }) });

/** undefined: it is not JSON, which its reader refuses. */
function parseValue(bytes: Buffer, { start, end }: { start: number; end: number }): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch {
    return undefined;
  }
}
