/** OpenAI-compatible realtime sessions: built on chat completions, whose keys, errors and model lists it shares. */
import { alpha } from '../alpha/index.ts';
import type { Protocol, UpstreamAdapter } from '../contract/index.ts';
import { connect } from './endpoint.ts';
import { readAsk, readNotice, rewrite, writeError } from './frames.ts';

const { upstream } = alpha as { upstream: UpstreamAdapter };
const { unary: _unary, normalize: _normalize, injectCache: _injectCache, ...shared } = upstream;

/** What an error event has no room for: its code decides, as it does for statuses that vendors use loosely. */
const eventStatus = 400;

export const alphaRealtime: Protocol = {
  id: 'alpha_realtime',
  kind: 'realtime',
  title: 'OpenAI-compatible realtime sessions',
  upstream: {
    ...shared,
    serves: () => ['realtime'],
    passesVerbatim: () => false,
    realtime: { connect, rewrite, readAsk, readNotice: readNotice((body) => upstream.readError(eventStatus, {}, body)), writeError },
  },
};
