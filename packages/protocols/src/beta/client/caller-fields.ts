/** What callers of this protocol call the fields that losses of a translation name. */
import type { CallerFields } from '../../kit/caller-fields.ts';

export const callerFields: CallerFields = {
  stop: 'stop_sequences',
  user: 'metadata.user_id',
  reasoning: 'thinking',
  'reasoning.budget': 'thinking.budget_tokens',
  'reasoning.enabled': 'thinking.type',
  response_format: 'output_config.format',
  'response_format.*': 'output_config.format',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  'messages.signature': 'messages.content.signature',
};
