/** Masks the values of fields that are named like credentials, in JSON, in JSON inside JSON, and in ordinary text (`PASSWORD=…`). */

const mask = '[redacted]';

/** The name ends here: `x-api-key`, `db_password` and `secretAccessKey` are among them, `max_tokens` is not. */
const named =
  /(authorization|cookie|passwd|password|passphrase|secret|credentials?|(?:api|access|private|secret|session|signing|encryption)[-_]?key|token)(\\{0,15}["'])?\s{0,8}[:=]\s{0,8}/gi;
/** A word alone in a text, with the scheme before it. */
const bare = /(?:(?:bearer|basic|digest|token|apikey)\s{1,8})?[^\s"'`\\,;&{}[\]()<>]{4,4096}/iy;
const cookies = /[^\n"'\\]{4,8192}/y;
const number = /-?\d[\d.eE+-]{0,40}/y;
/** Tokens that are counted, and pieces of a model's words, are not secrets: those are longer. */
const shortestToken = 16;

/** Linear: every character is looked at once, whatever the quoting. */
export function maskCredentialFields(text: string): string {
  let out = '';
  let copied = 0;
  named.lastIndex = 0;
  for (let found = named.exec(text); found; found = named.exec(text)) {
    const value = valueAt(text, named.lastIndex, found[2] !== undefined, found[1]!.toLowerCase());
    if (!value) continue;
    const secret = text.slice(value.start, value.end);
    named.lastIndex = value.end;
    if (found[1]!.toLowerCase() === 'token' && (secret.length < shortestToken || /\s/.test(secret))) continue;
    if (secret === '' || secret === mask) continue;
    out += text.slice(copied, value.start) + (value.quoted ? mask : value.inJson ? `"${mask}"` : mask);
    copied = value.end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

interface Value {
  start: number;
  end: number;
  quoted: boolean;
  inJson: boolean;
}

/** null: an object, a list, a truth value or nothing. */
function valueAt(text: string, at: number, nameQuoted: boolean, name: string): Value | null {
  let quote = at;
  while (text.charCodeAt(quote) === backslash && quote - at < 16) quote++;
  const mark = text[quote];
  if (mark === '"' || mark === "'") return { start: quote + 1, end: endOfString(text, quote + 1, mark, quote - at), quoted: true, inJson: nameQuoted };
  const pattern = nameQuoted ? number : name === 'cookie' ? cookies : bare;
  pattern.lastIndex = at;
  const length = pattern.exec(text)?.[0].length;
  return length === undefined ? null : { start: at, end: at + length, quoted: false, inJson: nameQuoted };
}

const backslash = 92;

/**
 * A string that began with `slashes` backslashes before its quote (0 in JSON, 1 in JSON inside a JSON string, 3 one deeper) ends at the quote with as
 * many before it, those that belong to escaped backslashes not counted. Without an end it reaches to that of the text.
 */
function endOfString(text: string, from: number, mark: string, slashes: number): number {
  const period = 2 * (slashes + 1);
  let run = 0;
  for (let at = from; at < text.length; at++) {
    if (text.charCodeAt(at) === backslash) run++;
    else {
      if (text[at] === mark && run % period === slashes) return at - slashes;
      run = 0;
    }
  }
  return text.length;
}
