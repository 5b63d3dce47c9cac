/** What is said of paths at which nothing is served. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { clientProtocols } from '@model-gateway/protocols';
import { type ClientProtocol, findClientRoute, type Headers } from './client-routes.ts';

/** What official SDKs offer as well, and the gateway does not; several protocols have some of these paths in common. */
export function notServed(protocol: ClientProtocol, path: string): string | undefined {
  for (const { client } of [protocol, ...clientProtocols]) {
    const known = client.notServed?.find((one) => {
      const isBelow = path.startsWith(`${one.path}/`);
      return one.verb === undefined ? path === one.path || isBelow : isBelow && path.endsWith(`:${one.verb}`);
    });
    if (known) return known.message;
  }
  return undefined;
}

export const unknownPath = (path: string, message = `There is nothing at ${shown(path)}.`): GatewayError => new GatewayError('not_found', { message });

const shown = (path: string): string => path.slice(0, 200);

/** The path that was meant, and what has to be changed at a client that asks so. */
interface MeantPath {
  path: string;
  remedy: string;
}

const maxPathLength = 512;
const versionTwice = /^(\/v\d+[a-z]*)(\/v\d+[a-z]*\/.*)$/;
/** Of a vendor's or another gateway's address. */
const prefix = /^(\/(?:api|openai|anthropic|gemini|google|genai|v1beta\/openai))(\/.+)$/;
const versioned = /^\/v\d+[a-z]*\//;
/** An address of a call was given, to which the client adds the call's path once more. */
const callTwice = /^(?:\/v\d+[a-z]*)?(\/.+)\1$/;

/** Paths of Ollama's API, and where the same is served here. */
const ollama: ReadonlyMap<string, string> = new Map([
  ['/api/version', '/v1/models'],
  ['/api/tags', '/v1/models'],
  ['/api/ps', '/v1/models'],
  ['/api/chat', '/v1/chat/completions'],
  ['/api/generate', '/v1/completions'],
  ['/api/embed', '/v1/embeddings'],
  ['/api/embeddings', '/v1/embeddings'],
]);

const base = (what: string): string => `the base address that the client was given ${what}`;
const notForOllama = 'set the client up for an OpenAI-compatible server, not for Ollama, with a base address that ends in /v1';

function meantBy(path: string): MeantPath {
  if (path.includes('//')) return { path: path.replace(/\/{2,}/g, '/'), remedy: base('must not end in a slash') };
  if (path.endsWith('/')) return { path: path.slice(0, -1), remedy: 'the path must not end in a slash' };
  const ofOllama = ollama.get(path);
  if (ofOllama !== undefined) return { path: ofOllama, remedy: notForOllama };
  const [, version, afterVersion] = versionTwice.exec(path) ?? [];
  if (afterVersion !== undefined) return { path: afterVersion, remedy: base(`must not end in ${version}`) };
  const [, foreign, rest] = prefix.exec(path) ?? [];
  if (rest !== undefined) return { path: versioned.test(rest) ? rest : `/v1${rest}`, remedy: base(`must not have ${foreign} in it`) };
  const [, call] = callTwice.exec(path) ?? [];
  if (call !== undefined) return { path: versioned.test(call) ? call : `/v1${call}`, remedy: base(`must not end in ${call}`) };
  return { path: `/v1${path}`, remedy: base('must end in /v1') };
}

/** A path that a client asks for which was given another base address than it expects; undefined: it is no such path. */
export function wrongBase(method: string, path: string, headers: Headers): { protocol: ClientProtocol; error: GatewayError } | undefined {
  if (path.length > maxPathLength) return undefined;
  const meant = meantBy(path);
  const answer = findClientRoute(method, meant.path, new URLSearchParams(), headers);
  if (!('found' in answer)) return undefined;
  const message = `There is nothing at ${shown(path)}, but at ${shown(meant.path)}: ${meant.remedy}.`;
  return { protocol: answer.found.protocol, error: unknownPath(path, message) };
}
