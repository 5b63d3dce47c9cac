/** The address without what stands for the native API, or for one service, in it. */
export function rootOf(baseUrl: string): string {
  const base = (baseUrl.split('?', 1)[0] ?? '').replace(/\/+$/, '');
  const at = base.indexOf('/api/v1');
  return at < 0 ? base : base.slice(0, at);
}
