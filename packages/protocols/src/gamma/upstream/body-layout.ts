/** Where the parts of a generate-content body stand, in either spelling of their names. */

import type { BodyLayout } from '../../body-layout.ts';
import { keysOf, kindOfMedia, namesAmong, putBefore } from '../../kit/body-layout.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import { camelName, field, spelling } from '../shared/fields.ts';

const kindsOf = (part: unknown): string[] => {
  // Thinking is text with a mark: who filters texts does not mean it.
  if (own(part, 'thought') === true) return ['thought'];
  const file = field(part, 'inlineData') ?? field(part, 'fileData');
  return [...keysOf(part).map(camelName), ...keysOf(part), ...(file === undefined ? [] : [kindOfMedia(field(file, 'mimeType'))])];
};

const declarations: readonly string[] = ['functionDeclarations', 'function_declarations'];

/** A function by its name; a list of them by theirs; what the vendor runs by its key. */
function namesOf(tool: unknown): string[] {
  const name = asString(own(tool, 'name'));
  if (name !== undefined) return [name];
  const functions = declarations.flatMap((key) => asArray(own(tool, key)) ?? []);
  return [
    ...namesAmong(...functions.map((one) => own(one, 'name'))),
    ...keysOf(tool)
      .map(camelName)
      .filter((key) => !declarations.includes(key)),
  ];
}

export const bodyLayout: BodyLayout = {
  content: [
    'systemInstruction.parts',
    'system_instruction.parts',
    'contents.parts',
    'contents.*.parts',
    'contents.*.parts.*.functionResponse.parts',
    'contents.*.parts.*.function_response.parts',
  ],
  kindsOf,
  textBlock: (text) => ({ text }),
  tools: {
    places: [...declarations.map((name) => `tools.*.${name}`), 'tools'],
    namesOf,
    choices: ['toolConfig.functionCallingConfig.allowedFunctionNames', 'tool_config.function_calling_config.allowed_function_names'].map((path) => ({
      path,
      namesOf: (name: unknown) => namesAmong(name),
      // Without its names the mode would demand some other function.
      above: 1,
    })),
    meaningless: ['toolConfig', 'tool_config'],
  },
  systemNeeds: ['systemInstruction', 'system_instruction'].map((name) => ({ path: [name], depth: 'value' })),
  injectSystem(body, text) {
    const name = spelling(body, 'systemInstruction') ?? 'systemInstruction';
    const given = own(body, name);
    const fresh = { parts: [{ text }] };
    if (typeof given === 'string') return [{ path: [name], value: { parts: [{ text }, { text: given }] } }];
    const parts = own(given, 'parts');
    if (asObject(parts)) return [{ path: [name, 'parts'], value: [{ text }, parts] }];
    return given === undefined ? [{ path: [name], value: fresh, add: true }] : putBefore(parts, [name, 'parts'], text, { text }, fresh.parts);
  },
};
