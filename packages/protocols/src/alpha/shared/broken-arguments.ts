/** Arguments of an earlier call that are not JSON (a reply was cut within them), for vendors that refuse them: wrapped, so that the model still sees them. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { chatFamily } from './families.ts';

/** The same text when it is JSON, or nothing at all. */
export function wrapArguments(text: string, losses: Pick<Losses, 'add'>): string {
  if (text.trim() === '') return text;
  try {
    JSON.parse(text);
    return text;
  } catch {
    losses.add('tool_calls.arguments', 'downgraded', 'Arguments that are no JSON were wrapped as `input`.');
    return JSON.stringify({ input: text });
  }
}

export function argumentEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  if (!chatFamily(context.target).jsonArguments || !context.contains('"tool_calls"')) return [];
  return (asArray(own(context.parse(), 'messages')) ?? []).flatMap((message, at) =>
    (asArray(own(message, 'tool_calls')) ?? []).flatMap((call, index): Edit[] => {
      const text = asString(own(own(call, 'function'), 'arguments'));
      const wrapped = text === undefined ? undefined : wrapArguments(text, losses);
      return wrapped === text ? [] : [{ path: ['messages', at, 'tool_calls', index, 'function', 'arguments'], value: wrapped }];
    }),
  );
}
