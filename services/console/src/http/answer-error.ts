/** Maps every failure to the console's error shape. Details that are not known to be safe are only logged. */
import { isGatewayError } from '@model-gateway/contracts/errors';
import { SealError } from '@model-gateway/secrets';
import type { NextFunction, Request, Response } from 'express';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';

/** Faults of the body parsers and the router, by their type or name. Their messages quote what was sent, so none is passed on. */
const parserFaults: Readonly<Record<string, () => Problem>> = {
  'entity.parse.failed': () => new Problem('invalid_json'),
  'entity.too.large': () => new Problem('payload_too_large'),
  'encoding.unsupported': () => new Problem('unsupported_media_type', 'A body with a content encoding is not accepted.'),
  'charset.unsupported': () => new Problem('unsupported_media_type', 'Only UTF-8 is accepted.'),
  'request.aborted': () => new Problem('client_gone'),
  'request.size.invalid': () => new Problem('invalid_request', 'The body is shorter than its content length.'),
  URIError: () => new Problem('invalid_request', 'The path is not properly percent-encoded.'),
};

export function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (isGatewayError(error)) {
    return new Problem(error.code, error.message, error.param === undefined ? undefined : [{ field: error.param, message: error.message }], error.status);
  }
  // Its message is meant for operators: it names a master key's id, never a value.
  if (error instanceof SealError) {
    // No key opens what was changed or moved.
    if (error.code !== 'unknown-key') return new Problem('conflict', `${error.message}. Give it a new value.`);
    return new Problem('conflict', `${error.message}. Add the key that sealed it to GATEWAY_MASTER_KEY again, after the present one, or give it a new value.`);
  }
  if (!(error instanceof Error)) return null;
  const type = (error as { type?: unknown }).type;
  const fault = typeof type === 'string' && Object.hasOwn(parserFaults, type) ? parserFaults[type] : undefined;
  return (fault ?? (error instanceof URIError ? parserFaults['URIError'] : undefined))?.() ?? null;
}

export const answerError =
  ({ logger }: Pick<ConsoleContext, 'logger'>) =>
  (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const known = toProblem(error);
    if (!known) logger.error({ error, method: request.method, path: request.path }, 'the console failed');
    else if (known.status >= 500) logger.warn({ error, method: request.method, path: request.path }, 'the console cannot answer');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = known ?? new Problem('internal');
    if (problem.retryAfter !== undefined) response.set('Retry-After', String(problem.retryAfter));
    response.status(problem.status).json({ error: { code: problem.code, message: problem.message, ...(problem.details && { details: problem.details }) } });
  };
