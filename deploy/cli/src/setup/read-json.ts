/** Reads settings that their clients take with comments and trailing commas, beside plain JSON. */

// Strings first, so that nothing inside one is taken for a comment or a comma.
const comment = /"(?:\\.|[^"\\])*"|\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g;
const trailingComma = /"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g;
const withoutMatches = (text: string, pattern: RegExp): string => text.replace(pattern, (match) => (match.startsWith('"') ? match : ''));

/** Throws what `JSON.parse` throws when it is not JSON without them either. */
export const readJson = (text: string): unknown => JSON.parse(withoutMatches(withoutMatches(text.replace(/^\ufeff/, ''), comment), trailingComma));
