/** Custom headers and the user agent: names, values and templates that could not be sent are refused by name, never by value. */
import { compileTemplate, headerNameFault, headerValueFault, TemplateError } from '@model-gateway/body-rules';
import type { Detail } from '../problem.ts';

export function checkHeaderTemplate(field: string, text: string | null): Detail[] {
  if (text === null) return [];
  const fault = headerValueFault(text) ?? templateFault(text);
  return fault === null ? [] : [{ field, message: fault }];
}

export function checkCustomHeaders(headers: Readonly<Record<string, string>>): Detail[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const field = `custom_headers.${name}`;
    const lower = name.toLowerCase();
    const fault = headerNameFault(name) ?? (seen.has(lower) ? 'appears twice: case does not tell header names apart' : null);
    seen.add(lower);
    return [...(fault === null ? [] : [{ field, message: fault }]), ...checkHeaderTemplate(field, value)];
  });
}

function templateFault(text: string): string | null {
  try {
    compileTemplate(text);
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}
