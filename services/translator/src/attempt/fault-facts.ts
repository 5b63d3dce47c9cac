/** What of an upstream's error may be shown to the caller: without our credential and without the upstream's name for the model. */
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { FaultFacts } from './classify.ts';

export function faultFacts(call: Call, route: Route, end: { body?: string }, context: TranslatorContext): FaultFacts {
  const { upstreamModelId } = route.target;
  const { requestedModel } = call.job;
  const clean = (text: string, spell = (name: string) => name): string => {
    const safe = context.redactor.redact(text);
    return upstreamModelId.length > 3 && upstreamModelId !== requestedModel ? safe.replaceAll(spell(upstreamModelId), spell(requestedModel)) : safe;
  };
  const body = route.protocol === call.job.clientProtocol && end.body !== undefined && end.body.length <= maxBodyLength ? clean(end.body, inJson) : undefined;
  return {
    sameProtocol: route.protocol === call.job.clientProtocol,
    clean: (text) => clean(text).slice(0, maxBodyLength),
    body: body !== undefined && isJsonObject(body) ? body : undefined,
  };
}

/** A larger error body is answered in our own shape, since a truncated one is not valid JSON. */
const maxBodyLength = 64 * 1024;

/** A name as it stands inside a JSON string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
