/** Addresses and keys of other gateways' files, as upstreams have them. */

/** An address as upstreams have it: without a slash at the end, and without what belongs to one operation. */
export const cleanBase = (text: string): string =>
  text
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/(?:chat\/completions|messages|responses)$/, '');
export const isAddress = (text: string): boolean => /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#\\]*)?$/i.test(text);

/** `os.environ/X` → `${X}`, which `apply` reads from the environment. */
export const asSecret = (text: string): string => text.replace(/^os\.environ\/([A-Za-z_]\w*)$/, (_whole, name: string) => `\${${name.toUpperCase()}}`);
