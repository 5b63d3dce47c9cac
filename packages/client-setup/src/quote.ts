/** Values as literals of the languages they are pasted into: a name with a quote must stay a name. */

/** JSON's string literal is also one of JavaScript, Python, TOML and YAML. */
export const literal = (text: string): string => JSON.stringify(text);

const plainWord = /^[\w@%+=:,./-]+$/;
export const shellWord = (text: string): string => (plainWord.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
