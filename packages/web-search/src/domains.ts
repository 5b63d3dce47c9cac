/** Lists of domains that a caller allows or blocks; each stands for its subdomains too, and may go on with a path. */
export interface Domains {
  readonly allowed?: readonly string[] | undefined;
  readonly blocked?: readonly string[] | undefined;
}

/** Whether the lists let this address pass. An address that cannot be read does not. */
export function mayUse(url: string, { allowed, blocked }: Domains): boolean {
  const parsed = URL.parse(url);
  if (!parsed) return false;
  const matches = (entry: string): boolean => isWithin(parsed, entry);
  return !(allowed && allowed.length > 0 && !allowed.some(matches)) && !blocked?.some(matches);
}

function isWithin({ hostname, pathname }: URL, entry: string): boolean {
  const [domain = '', ...rest] = entry
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split('/');
  if (domain === '' || (hostname !== domain && !hostname.endsWith(`.${domain}`))) return false;
  const path = rest.join('/');
  return path === '' || pathname.slice(1).toLowerCase().startsWith(path);
}
