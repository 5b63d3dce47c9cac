/** What callers of this protocol call the fields that losses of a translation name. */
import type { CallerFields } from '../../kit/caller-fields.ts';

export const callerFields: CallerFields = {
  max_tokens: 'max_output_tokens',
  system: 'instructions',
  messages: 'input',
  'messages.*': 'input',
  response_format: 'text.format',
  'response_format.*': 'text.format',
  verbosity: 'text.verbosity',
};
