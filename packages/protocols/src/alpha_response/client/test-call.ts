/** The call by which an admin tests a model. */
import type { TestCall, TestCallContext } from '../../contract/index.ts';

export const testCall = ({ model, stream, prompt, body }: TestCallContext): TestCall => ({
  path: '/v1/responses',
  query: '',
  streamForm: stream ? 'sse' : 'whole',
  body: { ...(body ?? { input: prompt, store: false }), model, stream },
});
