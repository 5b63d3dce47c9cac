/** What a request body asks for, read in one pass over its bytes. */
import { isUtf8 } from 'node:buffer';
import type { Job, StreamForm } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { decodeJsonString, scanBody } from '@model-gateway/json-bytes';
import { findInlineFiles, shortestFile } from '@model-gateway/model-catalog';
import { type ClientAdapter, questionsOf, type RouteMatch } from '@model-gateway/protocols';
import { sessionOfCacheKey } from './session.ts';

/** What decides the route of a request. */
export interface Wanted {
  model: string;
  stream: StreamForm;
  places: Job['places'];
  /** By the body. */
  sessionId: string | null;
}

/**
 * Checks the body's shape and reads the names that decide the route, once and for all. `lastModel` finds the model of a session's last request,
 * for clients that name it once. Throws a GatewayError.
 */
export function readWanted(bytes: Buffer, match: RouteMatch, client: ClientAdapter, lastModel: (session: string | null) => string | undefined): Wanted {
  const questions = questionsOf(client);
  // Readers replace bytes that are no UTF-8 in ways of their own: two of them would see two bodies.
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { message: 'The request body is not valid UTF-8.' });
  const scan = scanBody<string>(bytes, { ...questions, distinctKeys: true, longStrings: shortestFile });
  if (!scan.ok)
    throw new GatewayError(scan.code === 'invalid_json' || scan.code === 'duplicate_key' ? scan.code : 'invalid_request', {
      message: scan.message,
      ...(scan.param !== undefined && { param: scan.param }),
    });
  const files = scan.longStrings.length === 0 ? undefined : findInlineFiles(bytes, scan.longStrings);
  const { model, stream } = scan.values;
  const cacheKey = client.cacheKey === undefined ? undefined : scan.values[client.cacheKey];
  const sessionId = cacheKey ? sessionOfCacheKey(bytes, cacheKey) : null;
  const named = match.model ?? (model?.kind === 'string' ? decodeJsonString(bytes, model.start, model.end) : undefined);
  const meant = named ?? (model || !client.remembersModel ? undefined : lastModel(sessionId));
  if (meant === undefined) throw new GatewayError('invalid_request', { message: model ? 'model must be a string.' : 'model is required.', param: 'model' });
  if (match.stream === null && stream && stream.kind !== 'true' && stream.kind !== 'false' && stream.kind !== 'null')
    throw new GatewayError('invalid_request', { message: 'stream must be a boolean.', param: 'stream' });
  return {
    model: meant,
    stream: match.operation === 'count-tokens' ? 'whole' : (match.stream ?? (stream?.kind === 'true' ? 'sse' : 'whole')),
    places: { questions: questions.id, values: scan.values as Job['places']['values'], end: scan.end, words: scan.words, ...(files && { files }) },
    sessionId,
  };
}
