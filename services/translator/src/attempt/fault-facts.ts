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

/** Makes an upstream's words safe for the caller. */
export interface CleanWords {
  text(words: string): string;
  /** JSON; undefined: it is too long, or what was made unreadable in it was part of its form. */
  json(body: string): string | undefined;
}

/** By the upstream's name for the model and the caller's. */
export function cleanWords(upstreamModelId: string, requestedModel: string, redactor: Redactor): CleanWords {
  const clean = (words: string, spell = (name: string) => name): string => {
    const safe = redactor.redact(words);
    return upstreamModelId.length > 3 && upstreamModelId !== requestedModel ? safe.replaceAll(spell(upstreamModelId), spell(requestedModel)) : safe;
  };
  return {
    text: (words) => clean(words).slice(0, maxBodyLength),
    json(body) {
      const safe = body.length <= maxBodyLength ? clean(body, inJson) : undefined;
      return safe !== undefined && isJsonObject(safe) ? safe : undefined;
    },
  };
}

export function faultFacts({ job, route, body }: FaultOrigin, redactor: Redactor): FaultFacts {
  const { text, json } = cleanWords(route.target.upstreamModelId, job.requestedModel, redactor);
  // What passes both ways has the upstream's own words, which are its caller's terms.
  const sameProtocol = route.protocol === job.clientProtocol || passedCallOf(job, route) !== null;
  return { sameProtocol, clean: text, body: sameProtocol && body !== undefined ? json(body) : undefined };
}

/** A larger error body is answered in our own shape, since a truncated one is not valid JSON. */
const maxBodyLength = 64 * 1024;

/** A name as written inside a JSON string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);
