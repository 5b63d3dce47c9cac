/** Pages of other origins may not call tools with what a browser holds: only origins that an operator named, and the gateway's own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@model-gateway/contracts/errors';

const exposed = 'mcp-session-id, mcp-protocol-version, x-request-id, z-request-id';
/** What a page may ask of `/mcp`. */
export const mcpMethods = 'GET, POST, DELETE, OPTIONS';

const isLoopback = (address: string | undefined): boolean => address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
const loopbackNames = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether the request comes from a page. Throws 403 for pages that may not call; lets the others read the answer. */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return false;
  const page = URL.parse(origin);
  // A name that was made to point at this machine is the page's own to the browser: on loopback only its names are.
  const isOwn = host !== undefined && page?.host === host.toLowerCase() && (!isLoopback(request.socket.localAddress) || loopbackNames.test(page.hostname));
  if (!isOwn && !allowed.includes(origin)) throw new GatewayError('forbidden', { message: 'Pages of this origin may not call tools.' });
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposed);
  response.setHeader('vary', 'origin');
  return true;
}
