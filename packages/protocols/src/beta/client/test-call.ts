/** The call by which an admin tests a model. */
import type { TestCall, TestCallContext } from '../../contract/index.ts';

export const testCall = ({ model, stream, prompt, body }: TestCallContext): TestCall => ({
  path: '/v1/messages',
  query: '',
  streamForm: stream ? 'sse' : 'whole',
  body: { ...(body ?? { max_tokens: 256, messages: [{ role: 'user', content: prompt }] }), model, stream },
});
