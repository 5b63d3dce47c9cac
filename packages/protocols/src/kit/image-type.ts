/** The media type of an image, from its first bytes. */
const signatures: readonly (readonly [offset: number, text: string, mimeType: string])[] = [
  [1, 'PNG\r\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
];

/** undefined: none of those that models read. */
export const imageType = (bytes: Buffer): string | undefined =>
  signatures.find(([offset, text]) => bytes.toString('latin1', offset, offset + text.length) === text)?.[2];
