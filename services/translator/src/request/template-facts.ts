/** What templates may read of one request; nothing is computed before a template asks for it. */
import { accessKeyHash, systemPromptHash, type TemplateFacts } from '@model-gateway/body-rules';
import type { CurrentRequest } from './current.ts';

type Facts = Pick<CurrentRequest, 'request' | 'body'>;

/** As `templateFacts`, for body rules: there the key's hash is empty, and that of the system prompt also when there is none. */
export const bodyFacts = (current: Facts): TemplateFacts => ({
  ...templateFacts(current),
  accessKeyHash: () => '',
  systemPromptHash: () => systemPromptHash(current.body.systemPrompt()),
});

export function templateFacts(current: Facts): TemplateFacts {
  const { job } = current.request;
  return {
    requestId: job.clientRequestId ?? '',
    accessKeyName: job.accessKey,
    accessKeyGroup: job.keyGroup,
    accessKeyHash: () => accessKeyHash(job.accessKey),
    systemPromptHash: () => {
      const text = current.body.systemPrompt();
      return text === '' ? '' : systemPromptHash(text);
    },
    header: (name) => (Object.hasOwn(job.headers, name) ? job.headers[name] : undefined),
  };
}
