/** Which requests run here without their caller, also those that an edge of another version sends. */
import { expect, test } from '@jest/globals';
import type { Job } from '@model-gateway/contracts';
import { questionsOf } from '@model-gateway/protocols';
import { findClient } from '../src/request/context.ts';
import type { RunDeps } from '../src/run-deps.ts';
import { isRunHere } from '../src/turns/background.ts';

const snapshot = {
  models: new Map([['chat', { name: 'chat', upstream: 'chat', upstream_model_id: 'm' }]]),
  upstreams: new Map([['chat', { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [], custom_headers: {} }]]),
};
const deps = { turns: { keptBy: 'gateway' }, attempts: { reroute: { catalog: { at: () => snapshot } } } } as unknown as RunDeps;

function isRunAs(body: object, questions?: string): unknown {
  const job = {
    ...{ clientProtocol: 'alpha_response', operation: 'generate', requestedModel: 'chat', path: '/v1/responses', headers: {}, places: {} },
    ...{ streamId: 's', accessKeyId: 'k', plan: { model: 'chat', revision: 1, nodes: [{ model: 'chat', upstream: 'chat', keys: [] }] } },
  } as unknown as Job;
  const text = JSON.stringify({ model: 'chat', input: 'hello', ...body });
  const { id, words } = questionsOf(findClient(job));
  job.places = { questions: questions ?? id, values: {}, end: text.length - 1, words: words.filter((word) => text.includes(`"${word}"`)) };
  if ('background' in body) job.places.values['background'] = { start: text.indexOf(':', text.indexOf('"background"')) + 1, end: text.length - 1 };
  return isRunHere(job, Buffer.from(text), deps);
}

test.each([
  ['of this version', undefined],
  ['of another version, whose answers are not read', 'other questions'],
])('an edge %s sends a run without its caller, and others', (_name, questions) => {
  expect(isRunAs({ background: true }, questions)).toBe(true);
  expect(isRunAs({ background: false }, questions)).toBe(false);
  expect(isRunAs({}, questions)).toBe(false);
});
