/** Which realtime sessions are held with which upstreams, as the registry says. */
import { clientProtocols, type RealtimePath, realtimePaths, upstreamProtocols } from '../../src/index.ts';

const holders = upstreamProtocols.filter(({ upstream }) => upstream.realtime);

/** Where the model is named, in the words of the page. */
const namedBy: Readonly<Record<RealtimePath['kind'], string>> = {
  realtime: '`?model=`',
  transcription: 'the first `session.update`, or `?model=`',
  translation: '`?model=`',
  live: '`session.start`, the first frame',
  bidi: '`setup`, the first frame',
};

/** Each path once for an intent. */
const sessions = realtimePaths.flatMap(({ path, kind, intents, protocol }) => [
  { path, kind, protocol },
  ...Object.entries(intents ?? {}).map(([intent, other]) => ({ path: `${path}?intent=${intent}`, kind: other, protocol })),
]);

const isOfSessions = (path: string): boolean => /realtime|live|^\/ws\/|^\/api-ws\//.test(path);

/** The section of the page. */
export function writeSessions(): string {
  const rows = sessions.map(
    ({ path, kind }) => `| \`${path}\` | ${namedBy[kind]} | ${holders.map(({ upstream }) => (upstream.realtime?.[kind] ? 'as it is' : '–')).join(' | ')} |`,
  );
  // Protocols of one family refuse the same paths.
  const unserved = new Map(clientProtocols.flatMap(({ client }) => client.notServed ?? []).map(({ path, message }) => [path, message]));
  const refused = [...unserved].filter(([path]) => isOfSessions(path)).map(([path, message]) => `| \`${path}\` | ${message} |`);
  return `## Realtime sessions

WebSockets. _As it is_: every frame passes in both directions as it was sent, under the upstream's own names of events, and of the caller's frames the
model's name alone changes. –: refused, since nothing is translated: 400, or, where a frame names the model, an error and the close code 1008. How
sessions are opened, held and ended is in [clients.md](clients.md#realtime-sessions-over-a-websocket).

| path | the model is named in | ${holders.map(({ id }) => id).join(' | ')} |
| --- | --- | ${holders.map(() => '---').join(' | ')} |
${rows.join('\n')}

What belongs to sessions and is answered with 404 (a POST, or a handshake that is none of the above):

| path | why |
| --- | --- |
${refused.join('\n')}
`;
}
