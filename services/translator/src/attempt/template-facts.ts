/** What templates may read of one request; nothing is computed before a template asks for it. */
import { accessKeyHash, systemPromptHash, type TemplateFacts } from '@model-gateway/body-rules';
import type { Call } from '../call.ts';

/** As `templateFacts`, for body rules: there the key's hash is empty, and that of the system prompt also when there is none. */
export const bodyFacts = (call: Call): TemplateFacts => ({
  ...templateFacts(call),
  accessKeyHash: () => '',
  systemPromptHash: () => systemPromptHash(call.systemPrompt()),
});

export function templateFacts(call: Call): TemplateFacts {
  const { job } = call;
  return {
    requestId: job.clientRequestId ?? '',
    accessKeyName: job.accessKey,
    accessKeyGroup: job.keyGroup,
    accessKeyHash: () => accessKeyHash(job.accessKey),
    systemPromptHash: () => {
      const text = call.systemPrompt();
      return text === '' ? '' : systemPromptHash(text);
    },
    header: (name) => (Object.hasOwn(job.headers, name) ? job.headers[name] : undefined),
  };
}
