import { findProtocol, type UpstreamAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';

/** How upstreams of a route's protocol are called. */
export const findAdapter = ({ protocol }: Pick<Route, 'protocol'>): UpstreamAdapter | undefined => findProtocol(protocol)?.upstream;
