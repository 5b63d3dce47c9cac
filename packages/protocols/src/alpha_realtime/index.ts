/** OpenAI-compatible realtime sessions: built on chat completions, whose keys, errors and model lists it shares. */
import { alpha } from '../alpha/index.ts';
import type { Protocol, RealtimeAdapter, UpstreamAdapter } from '../contract/index.ts';
import { own } from '../kit/read.ts';
import { connectAt } from './endpoint.ts';
import { modelOf, parseFrame, type ReadFault, readAsk, readNotice, rewrite, writeError, writeSettings } from './frames.ts';
import { live } from './live.ts';
import { transcription } from './transcription.ts';

const { upstream } = alpha as { upstream: UpstreamAdapter };
const { unary: _unary, normalize: _normalize, injectCache: _injectCache, ...shared } = upstream;

/** What an error event has no room for: its type tells whose fault it is, and its code decides, as it does for statuses that vendors use loosely. */
const statusOf = (type: unknown): number => (type === 'server_error' ? 500 : 400);
const readFault: ReadFault = (body) => upstream.readError(statusOf(own(own(parseFrame(Buffer.from(body)), 'error'), 'type')), {}, body);

/** Conversations. */
export const conversation: RealtimeAdapter = {
  connect: connectAt('/realtime'),
  rewrite,
  readAsk,
  readNotice: readNotice(readFault),
  writeSettings,
  modelOf,
  writeError,
};

/** Speech in, speech in another language out, as long as it goes: the settings of such a session name no model. */
const translation: RealtimeAdapter = {
  ...conversation,
  connect: connectAt('/realtime/translations'),
  writeSettings: ({ model: _model, type: _type, ...session }) => writeSettings(session),
};

export const alphaRealtime: Protocol = {
  id: 'alpha_realtime',
  kind: 'realtime',
  title: 'OpenAI-compatible realtime sessions',
  upstream: {
    ...shared,
    serves: () => ['realtime'],
    passesVerbatim: () => false,
    realtime: { realtime: conversation, transcription: transcription(readFault), translation, live: live(readFault) },
  },
};
