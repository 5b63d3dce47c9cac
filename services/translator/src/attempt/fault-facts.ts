/** What of an upstream's error may be shown to the caller: without our credential and without the upstream's name for the model. */
import type { Job } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import type { Redactor } from '@model-gateway/telemetry';
import { passedCallOf } from '../request/passed.ts';
import type { FaultFacts } from './classify.ts';
import { isJsonObject } from './json-object.ts';

/** Where an error came from: `body` is the upstream's own. */
export interface FaultOrigin {
  job: Job;
  route: Route;
  body: string | undefined;
}

export function faultFacts({ job, route, body }: FaultOrigin, redactor: Redactor): FaultFacts {
  const { upstreamModelId } = route.target;
  const { requestedModel, clientProtocol } = job;
  const clean = (text: string, spell = (name: string) => name): string => {
    const safe = redactor.redact(text);
    return upstreamModelId.length > 3 && upstreamModelId !== requestedModel ? safe.replaceAll(spell(upstreamModelId), spell(requestedModel)) : safe;
  };
  // What passes both ways has the upstream's own words, which are its caller's terms.
  const sameProtocol = route.protocol === clientProtocol || passedCallOf(job, route) !== null;
  const cleanBody = sameProtocol && body !== undefined && body.length <= maxBodyLength ? clean(body, inJson) : undefined;
  return {
    sameProtocol,
    clean: (text) => clean(text).slice(0, maxBodyLength),
    body: cleanBody !== undefined && isJsonObject(cleanBody) ? cleanBody : undefined,
  };
}

/** A larger error body is answered in our own shape, since a truncated one is not valid JSON. */
const maxBodyLength = 64 * 1024;

/** A name as written inside a JSON string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);
