/** Where a call to the cloud goes, for each of its verbs, and with which headers. */

import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { cloudFamily } from './model-family.ts';

const verbs = { whole: 'converse', stream: 'converse-stream' };

/** Address and headers of a call whose verbs are these two; counting has the same one everywhere. */
export const requestWith =
  (names: { whole: string; stream: string }): UpstreamAdapter['request'] =>
  ({ target, operation, stream }) => ({
    method: 'POST',
    url: target.directPath ? target.baseUrl : modelUrl(target, operation === 'count-tokens' ? 'count-tokens' : stream ? names.stream : names.whole),
    headers: { 'content-type': 'application/json', accept: stream ? 'application/vnd.amazon.eventstream' : 'application/json' },
  });

const address = requestWith(verbs);

/** A reply that this model does not stream beside tools comes whole. */
export const request: UpstreamAdapter['request'] = (context) => {
  const whole = context.stream && !cloudFamily(context.target).streamsTools && own(context.body?.(), 'toolConfig') !== undefined;
  return address(whole ? { ...context, stream: false } : context);
};

/** Ids hold `:`, and profiles named by ARN hold `/`: both are percent-encoded, as is everything that a signature's canonical path would encode. */
const modelUrl = (target: Target, verb: string): string => `${target.baseUrl.replace(/\/+$/, '')}/model/${encodeSegment(target.upstreamModelId)}/${verb}`;

const encodeSegment = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** The list lives on the cloud's control host, which is named like the runtime's. */
export const listModels = (target: Target): UpstreamRequest => ({
  method: 'GET',
  url: `${target.baseUrl.replace(/^(https?:\/\/(?:[^/]*\.)?bedrock)-runtime/i, '$1').replace(/\/+$/, '')}/foundation-models`,
  headers: { accept: 'application/json' },
});

export const readModelList = (body: unknown): string[] =>
  (asArray(own(body, 'modelSummaries')) ?? []).flatMap((summary) => asString(own(summary, 'modelId')) ?? []);

export function readTokenCount(body: unknown): number | null {
  const tokens = own(body, 'inputTokens');
  return typeof tokens === 'number' && Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens)) : null;
}
