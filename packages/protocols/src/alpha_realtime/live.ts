/** Sessions that begin with the caller's own word, in which both sides speak at once. Long work goes to responses beside the conversation. */
import { tiersRead } from '../alpha/index.ts';
import type { FirstFrame, RealtimeAdapter, RealtimeNotice } from '../contract/index.ts';
import { asNumber, asString, own } from '../kit/read.ts';
import { billedTier } from '../kit/service-tier.ts';
import { nothingWritten } from '../kit/written-tokens.ts';
import { connectAt } from './endpoint.ts';
import { mayBeEvent, readEventType } from './event-type.ts';
import { exchangeModel, modelOf, parseFrame, type ReadFault, readAsk, readErrorNotice, writeError } from './frames.ts';
import { readUsage } from './usage.ts';

const start = 'session.start';
const starts: ReadonlySet<string> = new Set([start]);

export const live = (readFault: ReadFault): RealtimeAdapter => ({
  connect: connectAt('/live/sessions', {}),
  firstFrame,
  rewrite: (frame, { upstreamModelId }) => (mayBeEvent(frame, starts) ? exchangeModel(frame, [['session', 'model']], upstreamModelId) : frame),
  readAsk,
  readNotice(frame) {
    switch (readEventType(frame)) {
      case 'session.started':
        return { kind: 'session' };
      case 'session.output_audio.delta':
        // Billed by the session's seconds.
        return { kind: 'content', id: null, written: nothingWritten };
      case 'session.usage.updated':
        return { kind: 'session-usage', seconds: Math.ceil(asNumber(own(own(parseFrame(frame), 'usage'), 'seconds')) ?? 0) };
      case 'response.event':
        return readResponse(own(parseFrame(frame), 'event'));
      case 'error':
        return readErrorNotice(parseFrame(frame), frame, readFault);
      default:
        return null;
    }
  },
  writeSettings: (session) => JSON.stringify({ type: start, session }),
  modelOf,
  writeError,
});

/** An event of a Responses stream, which has its own names for how a response ends. */
function readResponse(event: unknown): RealtimeNotice | null {
  const [, name] = /^response\.(created|completed|failed|incomplete|cancelled)$/.exec(asString(own(event, 'type')) ?? '') ?? [];
  const response = own(event, 'response');
  const id = asString(own(response, 'id'));
  if (name === undefined || id === undefined) return null;
  if (name === 'created') return { kind: 'response-started', id };
  const usage = readUsage(own(response, 'usage'));
  return {
    kind: 'response-ended',
    id,
    status: name,
    code: asString(own(own(response, 'error'), 'code')) ?? null,
    usage: usage && { ...usage, ...billedTier(own(response, 'service_tier'), tiersRead) },
  };
}

const firstFrame: FirstFrame = {
  opens: true,
  missing: 'Send session.start with session.model first: it names the model of the session.',
  readModel(frame) {
    return (readEventType(frame) === start ? modelOf(own(parseFrame(frame), 'session')) : undefined) ?? '';
  },
};
