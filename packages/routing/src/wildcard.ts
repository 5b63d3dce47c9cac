/** `*` stands for any run of characters. Linear in practice and never worse than pattern × text; no regular expression is made from configuration. */
export function matchesWildcard(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text;
  let at = 0;
  let seen = 0;
  let star = -1;
  let resume = 0;
  while (seen < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      resume = seen;
    } else if (pattern[at] === text[seen]) {
      at++;
      seen++;
    } else if (star >= 0) {
      at = star + 1;
      seen = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
