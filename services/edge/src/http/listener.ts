/** The request listener: calls of models go their short way at once, everything else through Express. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GatewayError } from '@model-gateway/errors';
import { mintRequestId } from '@model-gateway/service';
import { call } from '../call.ts';
import { Exchange } from '../exchange.ts';
import type { Room } from '../room.ts';
import { type Door, findDoor, type Headers } from './doors.ts';

/** Paths under these belong to callers of models; the rest is everyday. */
const dataPlane = /^\/v\d+[a-z]*(?:\/|$)/;

export function createListener(room: Room, everyday: RequestListener): RequestListener {
  return (request, response) => {
    const target = request.url ?? '/';
    const cut = target.indexOf('?');
    const path = cut < 0 ? target : target.slice(0, cut);
    if (!dataPlane.test(path)) return everyday(request, response);
    if (path.length > 4096) return refuse(request, response, findDoorFor(path), new GatewayError('not_found'), room);
    const query = new URLSearchParams(cut < 0 ? '' : target.slice(cut + 1));
    const answer = findDoor(request.method ?? 'GET', path, query, request.headers as Headers);
    if ('found' in answer) return void call(request, response, answer.found, query, room);
    const error =
      'methods' in answer
        ? new GatewayError('method_not_allowed', { headers: { allow: answer.methods.join(', ') } })
        : new GatewayError('not_found', { message: `There is nothing at ${path.slice(0, 200)}.` });
    refuse(request, response, answer.door, error, room);
  };
}

const findDoorFor = (path: string): Door => {
  const answer = findDoor('GET', path.slice(0, 64), new URLSearchParams(), {});
  return 'found' in answer ? answer.found.door : answer.door;
};

/** No call was meant, so no row is left. */
function refuse(request: IncomingMessage, response: ServerResponse, door: Door, error: GatewayError, room: Room): void {
  new Exchange(request, response, door, mintRequestId(), room).writeError(error);
}
