/** What the first bytes of a reply say of its form, whatever its content type. */

const openingBrace = 0x7b;

/** The first byte that is neither blank nor of a byte order mark. */
export const firstVisible = (bytes: Uint8Array): number | undefined => bytes.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);

export const beginsObject = (byte: number): boolean => byte === openingBrace;

const openingTag = 0x3c;

/** Of HTML and XML: neither an event stream nor JSON begins with it. */
export const beginsMarkup = (byte: number): boolean => byte === openingTag;

/** Whether a line of an event stream begins with it: a field's name or a comment's colon. */
export const beginsField = (byte: number): boolean => ':deir'.includes(String.fromCharCode(byte));

/** Some servers put a byte order mark before their JSON. */
export const withoutMark = (bytes: Buffer): Buffer => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes);

const closingBrace = 0x7d;

/** Whether a body that is not JSON is an object that stops before its end, or nothing at all, rather than something else in its place. */
export function isCutShort(bytes: Uint8Array): boolean {
  const first = firstVisible(bytes);
  if (first === undefined) return true;
  const last = bytes.findLast((byte) => byte > 0x20);
  return beginsObject(first) && last !== closingBrace;
}
