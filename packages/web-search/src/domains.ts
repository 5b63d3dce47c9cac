/** Lists of domains that a caller allows or blocks; each stands for its subdomains too, and may go on with a path, in which `*` stands for anything. */
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
  const [first = '', ...rest] = entry
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split('/');
  // As an address spells it: names in other scripts have a form of their own there.
  const domain = withoutRoot(URL.parse(`https://${first.replace(/^\*\./, '')}`)?.hostname ?? '');
  const host = withoutRoot(hostname);
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`)) && beginsWith(pathname.slice(1).toLowerCase(), rest.join('/').split('*'));
}

/** `example.com.` is the same host. */
const withoutRoot = (name: string): string => name.replace(/\.$/, '');

/** `parts`: what stands between the stars. */
function beginsWith(path: string, [beginning = '', ...parts]: readonly string[]): boolean {
  if (!path.startsWith(beginning)) return false;
  let at = beginning.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
