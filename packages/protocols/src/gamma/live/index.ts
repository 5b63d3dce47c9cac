/** Gemini Live: generate-content in both directions over one WebSocket. Frames pass as they are, in text and in binary messages alike. */
import { applyEdits } from '@model-gateway/json-bytes';
import type { UpstreamFault } from '../../chat/event.ts';
import type { FirstFrame, RealtimeAdapter, RealtimeNotice, WrittenTokens } from '../../contract/index.ts';
import { visitMembers } from '../../kit/json-members.ts';
import { ofSound, ofText } from '../../kit/written-tokens.ts';
import { modelName } from '../shared/endpoint.ts';
import { readError } from '../shared/errors.ts';
import { camelName, objectField, textField } from '../shared/fields.ts';
import { readLiveUsage } from './usage.ts';

/** The vendor's path, on both sides; the version is the caller's choice. */
export const livePath = (version: string): string => `/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`;
export const liveVersions = ['v1beta', 'v1', 'v1alpha'] as const;

/** Versions of calls at which an upstream's address may end: sessions have theirs in the path. */
const callVersion = /\/v\d+[a-z0-9]*\/?$/;
const passedHeaders = ['x-goog-api-client'] as const;

const missing = 'Send setup with setup.model first: it names the model of the session.';

const firstFrame: FirstFrame = {
  opens: true,
  missing,
  readModel: (frame) => modelOf(objectField(parse(frame), 'setup')) ?? '',
};

export const live: RealtimeAdapter = {
  jsonInBinary: true,
  firstFrame,
  readHandle: (frame) => textField(objectField(objectField(parse(frame), 'setup'), 'sessionResumption'), 'handle') || undefined,
  connect({ target: { baseUrl, directPath }, clientHeaders, version = liveVersions[0] }) {
    const url = new URL(directPath ? baseUrl : `${baseUrl.replace(/\/+$/, '').replace(callVersion, '')}${livePath(version)}`);
    url.protocol = url.protocol === 'http:' || url.protocol === 'ws:' ? 'ws:' : 'wss:';
    const headers: Record<string, string> = {};
    for (const name of passedHeaders) {
      const value = clientHeaders[name];
      if (value !== undefined) headers[name] = value;
    }
    return { url: url.href, headers };
  },
  rewrite(frame, { upstreamModelId }) {
    if (!holds(frame, 'setup')) return frame;
    const edited = applyEdits(frame, [{ path: ['setup', 'model'], value: modelName(upstreamModelId) }]);
    return edited === frame ? frame : Buffer.from(edited.buffer, edited.byteOffset, edited.byteLength);
  },
  readAsk(frame) {
    let ask = false;
    visitMembers(frame, 0, (key, start) => {
      if (camelName(key) !== 'clientContent') return false;
      ask = isTrue(frame, start, 'turnComplete');
      return true;
    });
    return ask ? { kind: 'respond', eventId: null } : null;
  },
  readNotice,
  readClose,
  writeSettings: (setup) => JSON.stringify({ setup }),
  modelOf,
  // The vendor has no frame for errors: the close says what was wrong.
  writeError: () => null,
};

/** Content, counts and the end of a turn may all come in one frame, and a handle for the session beside them. */
function readNotice(frame: Buffer): RealtimeNotice | null {
  let [isSession, over] = [false, false];
  let content: WrittenTokens | null = null;
  let usage: ReturnType<typeof readLiveUsage> = null;
  let handle: string | undefined;
  visitMembers(frame, 0, (key, start, end) => {
    const name = camelName(key);
    if (name === 'setupComplete') isSession = true;
    else if (name === 'toolCall') content = ofText(frame.toString('utf8', start, end));
    else if (name === 'sessionResumptionUpdate') handle = textField(parse(frame.subarray(start, end)), 'newHandle') || undefined;
    else if (name === 'usageMetadata') usage = readLiveUsage(parse(frame.subarray(start, end)));
    else if (name === 'serverContent') {
      visitMembers(frame, start, (inner) => {
        if (camelName(inner) === 'modelTurn' || camelName(inner) === 'outputTranscription') content ??= writtenIn(frame);
        return false;
      });
      over = isTrue(frame, start, 'turnComplete');
    }
    return false;
  });
  if (isSession) return { kind: 'session' };
  return content || over || usage || handle !== undefined ? { kind: 'turn', content, usage, over, ...(handle !== undefined && { handle }) } : null;
}

/** Frames of this size hold sound. */
const soundFrom = 1024;
/** 16-bit samples, 24,000 a second, of which the vendor counts 40 ms as a token. */
const bytesPerToken = 1920;
const aroundText = 60;

const writtenIn = (frame: Buffer): WrittenTokens =>
  frame.length >= soundFrom ? ofSound(frame, bytesPerToken) : ofText(frame.toString('utf8', 0, Math.max(0, frame.length - aroundText)));

/** What a close before the session says: the vendor's code is about the WebSocket alone, its words are about the session. */
function readClose(code: number, reason: string): UpstreamFault {
  if (/quota|exhausted/i.test(reason)) return readError(429, {}, reason);
  if (code === 1008 && /not found|not supported/i.test(reason)) return readError(404, {}, reason);
  return readError(code === 1007 || code === 1008 ? 400 : 500, {}, reason);
}

const parse = (frame: Buffer): unknown => {
  try {
    return JSON.parse(frame.toString('utf8'));
  } catch {
    return null;
  }
};

/** As the caller named it: the SDKs write `models/` before it. */
function modelOf(setup: unknown): string | undefined {
  return textField(setup, 'model')?.replace(/^models\//, '') || undefined;
}

/** Whether the frame has the member. */
function holds(frame: Buffer, name: string): boolean {
  let found = false;
  visitMembers(frame, 0, (key) => {
    found = key === name;
    return found;
  });
  return found;
}

/** Whether the object at `from` says so. */
function isTrue(frame: Buffer, from: number, name: string): boolean {
  let value = false;
  visitMembers(frame, from, (key, start, end) => {
    if (camelName(key) === name) value = frame.toString('latin1', start, end) === 'true';
    return false;
  });
  return value;
}
