/** The request context given to a script under test, as form values and as the API takes it. */
import type { ScriptSlot } from '@model-gateway/contracts';
import { readObject } from './body-text.ts';
import { firstProtocol } from './samples.ts';

/** Fields that are words. Their labels are their names in the script. */
export const wordFields = ['clientModel', 'upstreamModel', 'upstreamName', 'requestId', 'clientIp', 'accessKeyName', 'accessKeyGroup'] as const;
type WordField = (typeof wordFields)[number];

/** The script's request context, as the form holds it. */
export interface ContextForm extends Record<WordField, string> {
  sourceProtocol: string;
  targetProtocol: string;
  stream: boolean;
  /** JSON objects, typed. */
  headers: string;
  query: string;
  responseHeaders: string;
  responseStatus: number;
  elapsedMs: number;
}

export const firstContext: ContextForm = {
  clientModel: 'example-model',
  upstreamModel: 'example-model-2025',
  upstreamName: 'example-upstream',
  requestId: 'req-1',
  clientIp: '203.0.113.7',
  accessKeyName: 'team-a',
  accessKeyGroup: 'trial',
  sourceProtocol: firstProtocol,
  targetProtocol: firstProtocol,
  stream: false,
  headers: '{\n  "x-team": "research"\n}',
  query: '{}',
  responseHeaders: '{\n  "content-type": "application/json"\n}',
  responseStatus: 200,
  elapsedMs: 850,
};

/** Fields of typed JSON that the slot's scripts see. */
export const jsonFields = (slot: ScriptSlot) =>
  slot === 'response_transform' ? (['headers', 'query', 'responseHeaders'] as const) : (['headers', 'query'] as const);

const isTexts = (text: string): boolean => Object.values(readObject(text) ?? { wrong: null }).every((value) => typeof value === 'string');

/** Fields that hold no object of texts. */
export const faultyFields = (form: ContextForm, slot: ScriptSlot): string[] => jsonFields(slot).filter((field) => !isTexts(form[field]));

/** For a form without faulty fields. A slot for requests knows nothing of a response. */
export function contextBody({ responseStatus, responseHeaders, elapsedMs, headers, query, ...rest }: ContextForm, slot: ScriptSlot) {
  return {
    ...rest,
    headers: readObject(headers),
    query: readObject(query),
    ...(slot === 'response_transform' && { responseStatus, elapsedMs, responseHeaders: readObject(responseHeaders) }),
  };
}
