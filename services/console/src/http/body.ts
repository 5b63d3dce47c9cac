/** Reads bodies: JSON up to 16 MiB (16 KiB before a sign-in), YAML where a route takes a whole configuration. */
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Problem } from '../problem.ts';
import type { ReadBody } from './reading/body-reader.ts';

const limit = 16 * 1024 * 1024;
/** What somebody may send who is not known yet. */
const smallLimit = 16 * 1024;
const jsonType = 'application/json';
const yamlTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/** As bytes: long bodies are parsed in a worker thread, so that they do not block the event loop. */
const json = express.raw({ type: jsonType, limit, inflate: false });
const smallJson = express.raw({ type: jsonType, limit: smallLimit, inflate: false });
const yaml = express.raw({ type: yamlTypes, limit, inflate: false });

const charsets = new Set(['utf-8', 'utf-16', 'utf-16le', 'utf-16be']);

function charsetOf(request: Request): string {
  const named = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (!charsets.has(named)) throw new Problem('unsupported_media_type', 'Only UTF-8 is accepted.');
  return named;
}

/** Which forms and sizes of a request body a route takes. */
export interface BodyOptions {
  /** YAML too. */
  yaml?: boolean;
  /** Before a sign-in. */
  small?: boolean;
  /** It may hold lists of resources. */
  sections?: boolean;
}

/** Handlers in order; `request.body` is undefined when there was none. */
export function readBody(read: ReadBody, { yaml: takesYaml = false, small = false, sections = false }: BodyOptions): RequestHandler[] {
  const take = async (request: Request, _response: Response, next: NextFunction): Promise<void> => {
    const { body } = request;
    if (Buffer.isBuffer(body)) {
      const isYaml = takesYaml && Boolean(request.is(yamlTypes));
      // An empty one says what `{}` says.
      request.body = body.length === 0 && !isYaml ? {} : await read({ bytes: body, charset: charsetOf(request), yaml: isYaml, sections });
    } else if (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0)
      throw new Problem(
        'unsupported_media_type',
        takesYaml
          ? 'This content type is not supported: send application/json or application/yaml.'
          : 'This content type is not supported: send application/json.',
      );
    next();
  };
  return [small ? smallJson : json, ...(takesYaml ? [yaml] : []), take];
}
