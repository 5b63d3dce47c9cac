/** The load of a case on one endpoint. */
import type { Case } from '../cases.ts';
import { dialectOf, type Endpoint } from '../targets/target.ts';
import { makeBody } from './bodies.ts';
import type { LoadOptions } from './run-load.ts';

export type CaseLoad = Pick<LoadOptions, 'url' | 'requests' | 'stream' | 'connections'>;

export function loadOf({ passage, size, stream, connections }: Pick<Case, 'passage' | 'size' | 'stream' | 'connections'>, endpoint: Endpoint): CaseLoad {
  const { url, headers, model, store = false, callers = [{ headers, model }] } = endpoint;
  const bodies = new Map<string, Buffer>();
  const bodyFor = (name: string): Buffer => {
    const body = bodies.get(name) ?? makeBody({ dialect: dialectOf[passage], size, stream, model: name, store });
    bodies.set(name, body);
    return body;
  };
  return { url, requests: callers.map((caller) => ({ headers: { ...caller.headers }, body: bodyFor(caller.model) })), stream, connections };
}
