/** What callers of this protocol call the fields that losses of a translation name. */
import type { CallerFields } from '../../kit/caller-fields.ts';

export const callerFields: CallerFields = {
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  max_tokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  presence_penalty: 'generationConfig.presencePenalty',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  n: 'generationConfig.candidateCount',
  logprobs: 'generationConfig.responseLogprobs',
  top_logprobs: 'generationConfig.logprobs',
  reasoning: 'generationConfig.thinkingConfig',
  'reasoning.budget': 'generationConfig.thinkingConfig.thinkingBudget',
  // A budget that became an effort is named so as well.
  'reasoning.effort': 'generationConfig.thinkingConfig',
  'reasoning.summary': 'generationConfig.thinkingConfig.includeThoughts',
  response_format: 'generationConfig.responseMimeType',
  'response_format.schema': 'generationConfig.responseJsonSchema',
  system: 'systemInstruction',
  messages: 'contents',
  'messages.signature': 'contents.parts.thoughtSignature',
  'messages.*': 'contents',
  tool_choice: 'toolConfig.functionCallingConfig.mode',
  'tool_choice.allowed': 'toolConfig.functionCallingConfig.allowedFunctionNames',
};
