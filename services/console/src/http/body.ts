/** Reads bodies: JSON up to 16 MiB (16 KiB before a sign-in), YAML where a route takes a whole configuration. */
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { parse as parseYaml } from 'yaml';
import { Problem } from '../problem.ts';
import { assertPlainJson } from '../validation/plain-json.ts';

const limit = 16 * 1024 * 1024;
/** What somebody may send who is not known yet. */
const smallLimit = 16 * 1024;
const yamlTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/** Aliases can multiply a small document into a large value. */
const yamlAliases = 100;

const json = express.json({ limit, inflate: false, strict: false });
const smallJson = express.json({ limit: smallLimit, inflate: false, strict: false });
const text = express.text({ limit, inflate: false, type: yamlTypes });

/** Parsers in order; `request.body` is undefined when there was none. */
export function readBody({ yaml = false, small = false }: { yaml?: boolean; small?: boolean }): RequestHandler[] {
  return [small ? smallJson : json, ...(yaml ? [text, readYaml] : []), checkBody];
}

function readYaml(request: Request, _response: Response, next: NextFunction): void {
  if (typeof request.body === 'string' && request.is(yamlTypes)) {
    try {
      request.body = parseYaml(request.body, { maxAliasCount: yamlAliases, uniqueKeys: true, logLevel: 'error' });
    } catch {
      // The parser's message quotes the document, which may hold secrets.
      throw new Problem('invalid_json', 'The request body is not valid YAML.');
    }
  }
  next();
}

function checkBody(request: Request, _response: Response, next: NextFunction): void {
  const sent = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (sent && request.body === undefined) throw new Problem('unsupported_media_type', 'This content type is not supported: send application/json.');
  assertPlainJson(request.body);
  next();
}
