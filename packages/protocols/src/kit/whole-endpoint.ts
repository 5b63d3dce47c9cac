/** Addresses that are a whole endpoint (`direct_path`): what is beside it is found by its last path segments, and its query stays. */
import type { Target } from '../contract/index.ts';

/** An address that ends in `ending`, the main path of its protocol, is a whole endpoint, too, whether an admin has said so or not. */
export const isWholeEndpoint = ({ baseUrl, directPath }: Pick<Target, 'baseUrl' | 'directPath'>, ending: string): boolean =>
  directPath || baseUrl.endsWith(ending);

/** `end` in place of the path's own ending; null when the path ends otherwise. */
export function besideEndpoint(url: string, ending: string, end: string): string | null {
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  return path.endsWith(ending) ? `${path.slice(0, path.length - ending.length)}${end}${query}` : null;
}
