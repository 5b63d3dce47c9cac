/** Cleans text for both engines: PostgreSQL refuses NUL, and a lone surrogate has no UTF-8 encoding. */

/** Maximum length of text that comes from outside. */
export const maxTextLength = 2_048;

export function cleanText(text: string, limit = maxTextLength): string {
  const cut = text.length > limit ? text.slice(0, limit) : text;
  if (cut.isWellFormed() && !cut.includes('\0')) return cut;
  return cut.toWellFormed().replaceAll('\0', '\u{fffd}');
}
