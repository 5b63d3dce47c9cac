/** The calls by which an admin tests a model. */
import type { TestCall, TestCallContext } from '../../contract/index.ts';

export const testCall = ({ model, stream, prompt, body }: TestCallContext): TestCall => ({
  path: '/v1/chat/completions',
  query: '',
  streamForm: stream ? 'sse' : 'whole',
  body: { ...(body ?? { messages: [{ role: 'user', content: prompt }] }), model, stream },
});

export const moderationCall = ({ model, prompt, body }: TestCallContext): TestCall => ({
  path: '/v1/moderations',
  query: '',
  streamForm: 'whole',
  body: { input: prompt, ...body, model },
});

/** One question that is answered yes or no. */
export const decisionCall = ({ model, prompt, body }: TestCallContext): TestCall => ({
  path: '/v1/decisions',
  query: '',
  streamForm: 'whole',
  body: { input: prompt, questions: [{ type: 'predicate', instructions: 'Is this a greeting?' }], ...body, model },
});
