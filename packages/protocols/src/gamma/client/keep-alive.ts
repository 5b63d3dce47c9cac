/** The bytes that keep a quiet generate-content stream alive, by who reads it. */
import type { StreamForm } from '@model-gateway/contracts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Every client library of Google's names itself so, in one header, the other or both; the command line sends its own user agent. */
const readsAsGoogle = /google-genai-sdk\/|\bgl-[a-z]+\/|geminicli/i;
/** Splits the body at blank lines and takes whatever stands between two of them for an event, a line break included. */
const splitsAtBlankLines = /\bgl-go\//;
/** The library before the present one: it looks for `data:` at the very next byte. */
const takesNothing = /\bgenai-js\//;

/**
 * Readers of Google's do not parse event streams, they look for `data:`. The JavaScript library up to 1.30 and at least one of Python's find no event
 * after a comment; a bare line break they all skip, but for Go's, which needs a whole blank line. The deprecated JavaScript library skips nothing.
 * Everybody else gets a comment with its blank line. A JSON array has no place for either.
 */
export function keepAlive(form: StreamForm, headers: Headers): string | null {
  if (form !== 'sse') return null;
  const name = `${headers['x-goog-api-client'] ?? ''} ${headers['user-agent'] ?? ''}`;
  if (takesNothing.test(name)) return null;
  if (splitsAtBlankLines.test(name)) return '\r\n\r\n';
  return headers['x-goog-api-client'] !== undefined || readsAsGoogle.test(name) ? '\n' : ':keep-alive\n\n';
}
