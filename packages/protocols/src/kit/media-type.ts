/** Names of media types as vendors know them, for those that callers write otherwise. */
const usual: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/apng', 'image/png'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/vnd.wave', 'audio/wav'],
  ['audio/x-m4a', 'audio/mp4'],
  ['audio/mp4a-latm', 'audio/mp4'],
  ['audio/x-flac', 'audio/flac'],
]);

/** `image/jpg` → `image/jpeg`: one vendor takes both, most of the others refuse the first. Parameters stay out. */
export function usualMediaType(mimeType: string): string {
  const bare = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return usual.get(bare) ?? bare;
}
