/** DashScope's realtime sessions: the frames of the OpenAI-compatible ones under the names of its beta, at an address of their own. */
import { alphaRealtime, conversation } from '../alpha_realtime/index.ts';
import type { Protocol, RealtimeAdapter, Target, UpstreamAdapter } from '../contract/index.ts';

const upstream = alphaRealtime.upstream as UpstreamAdapter;

const sessionPath = '/api-ws/v1/realtime';
/** Paths under which the same host serves calls: an upstream's address may end with one. */
const callPaths = /\/(?:api\/v1|compatible-mode\/v1|api-ws\/v1(?:\/realtime)?)\/?$/;

const addressOf = ({ baseUrl, directPath }: Target): string => (directPath ? baseUrl : `${baseUrl.replace(callPaths, '').replace(/\/+$/, '')}${sessionPath}`);

/** No header of the caller's means anything there. */
const connect: RealtimeAdapter['connect'] = ({ target }) =>
  conversation.connect({ target: { ...target, baseUrl: addressOf(target), directPath: true }, clientHeaders: {} });

export const deltaRealtime: Protocol = {
  id: 'delta_realtime',
  kind: 'realtime',
  title: 'DashScope realtime sessions',
  upstream: { ...upstream, realtime: { realtime: { ...conversation, connect } } },
};
