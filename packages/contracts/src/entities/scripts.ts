/** Fields of upstreams and models that hold scripts. An empty text is none. */
import { z } from 'zod';

const script = z.string().max(100_000).nullable().default(null);

/** Each slot on its own: a model's script takes the place of its upstream's. */
export const scriptFields = {
  request_transform_before: script,
  request_transform_after: script,
  response_transform: script,
};
export type ScriptField = keyof typeof scriptFields;

/** What a script that fails does to its request. */
export const scriptErrorMode = z.enum(['log-and-continue', 'log-and-reject']).default('log-and-continue');
