/** JSON schema for models that only know JSON mode, in verbatim bodies: JSON mode is requested and the schema is described in the prompt. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, own } from '../../kit/read.ts';
import { chatFamily } from './families.ts';

/** In every body that asks for one. */
export const schemaWord = 'json_schema';

/** `taken`: edits that were made already; a message within which one stands is left alone. */
export function schemaEdits(context: VerbatimRequestContext, taken: readonly Edit[], losses: Losses): Edit[] {
  if (chatFamily(context.target).jsonSchema || !context.contains(`"${schemaWord}"`)) return [];
  const body = context.parse();
  const asked = own(body, 'response_format');
  if (own(asked, 'type') !== schemaWord) return [];
  losses.add('response_format.json_schema', 'emulated', 'JSON was requested and the schema described in the prompt.');
  const schema = own(own(asked, schemaWord), 'schema') ?? {};
  const words = `Answer with one JSON object that fits this JSON schema:\n${JSON.stringify(schema)}`;
  const edits = (asArray(own(body, 'messages')) ?? []).flatMap((message, at): Edit[] => {
    const content = own(message, 'content');
    const path: Edit['path'] = ['messages', at, 'content'];
    if (!['system', 'developer', 'user'].includes(String(own(message, 'role'))) || taken.some((edit) => path.every((step, index) => edit.path[index] === step)))
      return [];
    if (typeof content === 'string') return [{ path, value: `${content}\n\n${words}` }];
    return asArray(content) ? [{ path, value: [...(content as unknown[]), { type: 'text', text: words }] }] : [];
  });
  return [{ path: ['response_format'], value: { type: 'json_object' } }, ...edits.slice(0, 1)];
}
