/** Quotes values as literals of the language they are pasted into, so that a quote in a name cannot end the literal. */

/** JSON's string literal is also one of JavaScript, Python, TOML and YAML. */
export const literal = (text: string): string => JSON.stringify(text);

const plainWord = /^[\w@%+=:,./-]+$/;
export const shellWord = (text: string): string => (plainWord.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
