/** Asks a server for its tools, page by page. */
import { elementsOf, membersOfText } from '../protocol/raw-json.ts';
import { errorCodes, metaKeys, modernVersion } from '../protocol/versions.ts';
import { ServerFault } from './http.ts';
import { handshakeMs, type Peer } from './peer.ts';
import { describeRefusal } from './session-peer.ts';

const maxPages = 100;
const maxTools = 5000;

/** JSON texts of all tools; `isCut`: there are more than are read. `version`: of the gateway. Rejects with ServerFault. */
export async function listTools(peer: Peer, version: string, signal: AbortSignal): Promise<{ texts: string[]; isCut: boolean }> {
  const texts: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && texts.length < maxTools; page++) {
    const asked = cursor === undefined ? '{}' : `{"cursor":${cursor}}`;
    const params = peer.era === 'modern' ? ownParams(version, '{}', asked) : cursor === undefined ? undefined : asked;
    const reply = await peer.request({ method: 'tools/list', params, signal, silenceMs: handshakeMs });
    if (reply.kind === 'error') {
      if (reply.code === errorCodes.methodNotFound) return { texts: [], isCut: false };
      throw new ServerFault(describeRefusal(reply));
    }
    const members = membersOfText(reply.result, ['tools', 'nextCursor']);
    const elements = members?.tools === undefined ? null : elementsOf(members.tools);
    if (elements === null) throw new ServerFault('The server answered with a list of tools that cannot be read.');
    texts.push(...elements);
    cursor = members?.nextCursor;
    if (cursor === undefined || cursor === 'null' || cursor === '""') return { texts: texts.slice(0, maxTools), isCut: texts.length > maxTools };
  }
  return { texts: texts.slice(0, maxTools), isCut: true };
}

/** Params of a request that the gateway makes by itself in modern terms. */
export function ownParams(version: string, capabilities: string, params = '{}'): string {
  const meta = `"${metaKeys.version}":"${modernVersion}","${metaKeys.client}":{"name":"model-gateway","version":${JSON.stringify(version)}},"${metaKeys.capabilities}":${capabilities}`;
  return `${params === '{}' ? '{' : `${params.slice(0, -1)},`}"_meta":{${meta}}}`;
}
