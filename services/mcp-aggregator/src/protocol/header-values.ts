/** Header values that may hold any text: plain where they can be, else base64 between marks. */
const [prefix, suffix] = ['=?base64?', '?='];
const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isMarked = (value: string): boolean => value.startsWith(prefix) && value.endsWith(suffix) && value.length >= prefix.length + suffix.length;

export const encodeHeaderValue = (value: string): string =>
  plain.test(value) && !isMarked(value) ? value : `${prefix}${Buffer.from(value, 'utf8').toString('base64')}${suffix}`;

/** null: what stands between the marks is not base64 of UTF-8. */
export function decodeHeaderValue(sent: string): string | null {
  const value = sent.replace(/^[\t ]+|(?<![\t ])[\t ]+$/g, '');
  if (!isMarked(value)) return value;
  const inner = value.slice(prefix.length, -suffix.length);
  if (!base64.test(inner)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(inner, 'base64'));
  } catch {
    return null;
  }
}
