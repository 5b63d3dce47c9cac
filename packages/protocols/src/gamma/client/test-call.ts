/** The call by which an admin tests a model: its name and whether it streams are part of the path. */
import type { TestCall, TestCallContext } from '../../contract/index.ts';

export const testCall = ({ model, stream, prompt, body }: TestCallContext): TestCall => ({
  path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
  query: stream ? 'alt=sse' : '',
  streamForm: stream ? 'sse' : 'whole',
  body: { ...(body ?? { contents: [{ role: 'user', parts: [{ text: prompt }] }] }) },
});
