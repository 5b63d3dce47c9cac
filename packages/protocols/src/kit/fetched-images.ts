/** Images whose bytes were fetched from their addresses. */
import type { FetchedMedia, ImageSource, Images, ImagesRequest } from '../contract/index.ts';

/** The reply with bytes in place of addresses. */
export const withImageBytes = (reply: Images, files: ReadonlyMap<string, FetchedMedia>): Images => ({
  ...reply,
  images: reply.images.map(({ url, ...image }) => {
    const file = url === undefined ? undefined : files.get(url);
    return file ? { ...image, data: file.data, mimeType: file.mimeType } : { ...image, ...(url !== undefined && { url }) };
  }),
});

/** Those of a reply that have no bytes. */
export const unfetched = ({ images }: Images): string[] => images.flatMap(({ data, url }) => (data === undefined && url !== undefined ? [url] : []));

/** The request with bytes in place of addresses. */
export function withSources(request: ImagesRequest, files: ReadonlyMap<string, FetchedMedia>): ImagesRequest {
  const inline = (source: ImageSource): ImageSource => ('url' in source ? (files.get(source.url) ?? source) : source);
  return { ...request, sources: request.sources.map(inline), ...(request.mask && { mask: inline(request.mask) }) };
}
