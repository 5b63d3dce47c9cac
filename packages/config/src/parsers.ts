/** Parsers of settings: a text (environment) or a TOML value becomes a checked value, or a short error message. */
import { isIP, isIPv4 } from 'node:net';

/** Returned instead of a value; reads as "NAME <fault>; accepted: …". */
export class Fault {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Converts a text or TOML value of one kind of setting, or reports what is wrong with it. */
export interface Parser<T> {
  /** What is accepted, for errors and the documentation. */
  readonly accepts: string;
  parse(value: unknown): T | Fault;
}

const parser = <T>(accepts: string, parse: (value: unknown) => T | Fault): Parser<T> => ({ accepts, parse });
const asText = (value: unknown): string | Fault => (typeof value === 'string' ? value : new Fault('is not a text'));

function asNumber(value: unknown, pattern: RegExp): number | Fault {
  if (typeof value === 'number') return pattern.test(String(value)) ? value : new Fault('is not such a number');
  if (typeof value !== 'string' || !pattern.test(value.trim())) return new Fault('is not a number of this kind');
  return Number(value);
}

const between = (min: number, max: number) => (value: number | Fault) =>
  value instanceof Fault ? value : value >= min && value <= max ? value : new Fault('is out of range');

export const wholeNumber = (min: number, max: number): Parser<number> =>
  parser(`a whole number from ${min} to ${max}`, (value) => between(min, max)(asNumber(value, /^-?\d{1,15}$/)));

/** Seconds, with decimals; the value is in ms. */
export const seconds = (min: number, max: number): Parser<number> =>
  parser(`a number of seconds from ${min} to ${max}`, (value) => {
    const number = between(min, max)(asNumber(value, /^\d{1,9}(?:\.\d{1,6})?$/));
    return number instanceof Fault ? number : number * 1000;
  });

export const oneOf = <const T extends string>(...words: readonly T[]): Parser<T> =>
  parser(words.join(', '), (value) => words.find((word) => word === value) ?? new Fault('is not one of these'));

export const flag: Parser<boolean> = parser('true or false', (value) =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : new Fault('is neither'),
);

export const text = (maxLength: number): Parser<string> =>
  parser(`a text of 1 to ${maxLength} printable characters`, (value) => {
    const raw = asText(value);
    if (raw instanceof Fault) return raw;
    return raw.length <= maxLength && /^[\x20-\x7e\u00a0-\uffff]+$/.test(raw) ? raw : new Fault('is too long or has control characters');
  });

export const headerText = (maxLength: number): Parser<string> =>
  parser(`1 to ${maxLength} printable ASCII characters`, (value) =>
    typeof value === 'string' && value.length <= maxLength && /^[\x20-\x7e]+$/.test(value) ? value : new Fault('has other characters or is too long'),
  );

export const hostAddress: Parser<string> = parser('an IP address or host name to listen on', (value) =>
  typeof value === 'string' && (isIP(value) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(value)) ? value : new Fault('is not an address'),
);

/** A port, or `off`, which gives null. */
export const portOrOff: Parser<number | null> = parser('a port from 0 to 65535 (0 = any free one), or off', (value) =>
  value === 'off' ? null : between(0, 65535)(asNumber(value, /^\d{1,5}$/)),
);

/** Clients of PostgreSQL in C read such lists; here the whole list would be looked up as the name of one host. */
const severalHosts = /^[a-z]+:\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)/;

export const urlOf = (...schemes: readonly string[]): Parser<string> =>
  parser(`a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`, (value) => {
    if (typeof value === 'string' && severalHosts.test(value)) return new Fault('names several servers: give one address, the one that leads to the primary');
    if (typeof value !== 'string' || !URL.canParse(value)) return new Fault('is not a URL');
    const url = new URL(value);
    if (!schemes.includes(url.protocol.slice(0, -1))) return new Fault('has another scheme');
    if (!isEscaped(url.username + url.password)) return new Fault('has a % in its password that begins no escape (write %25)');
    return url.hostname === '' ? new Fault('names no host') : value;
  });

/** A malformed percent-encoding would only fail when the client decodes it, with an error that names no setting. */
function isEscaped(credential: string): boolean {
  try {
    decodeURIComponent(credential);
    return true;
  } catch {
    return false;
  }
}

/** Several servers, separated by commas. */
export const urlsOf = (...schemes: readonly string[]): Parser<readonly string[]> => {
  const one = urlOf(...schemes);
  return parser(`${one.accepts}; several separated by commas`, (value) => {
    const urls: string[] = [];
    for (const part of String(value).split(',')) {
      const url = one.parse(part.trim());
      if (url instanceof Fault) return url;
      urls.push(url);
    }
    return urls;
  });
};

function cidr(entry: string): string | Fault {
  const [address = '', bits, ...rest] = entry.split('/');
  if (isIP(address) === 0 || rest.length > 0) return new Fault('holds something that is not an IP address');
  const max = isIPv4(address) ? 32 : 128;
  if (bits === undefined) return `${address}/${max}`;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? `${address}/${Number(bits)}` : new Fault('holds a wrong prefix length');
}

export const cidrs: Parser<readonly string[]> = parser('IP addresses or CIDR ranges, separated by commas', (value) => {
  if (typeof value !== 'string') return new Fault('is not a text');
  const ranges: string[] = [];
  for (const entry of value.split(',')) {
    const range = cidr(entry.trim());
    if (range instanceof Fault) return range;
    ranges.push(range);
  }
  return ranges;
});

const base64Of32Bytes = /^[A-Za-z0-9+/_-]{43}=?$/;
const isKey = (part: string): boolean => base64Of32Bytes.test(part) && Buffer.from(part, 'base64').length === 32;
const isWeakKey = (part: string): boolean => new Set(Buffer.from(part, 'base64')).size < 8;

/** Kept as text: the keyring parses it. */
export const masterKey: Parser<string> = parser('32 random bytes in base64 (openssl rand -base64 32), or several as id:base64,id:base64', (value) => {
  if (typeof value !== 'string') return new Fault('is not a text');
  const parts = value.split(',').map((part) => part.trim());
  const ids = new Set<string>();
  for (const part of parts) {
    const colon = part.indexOf(':');
    const id = colon < 0 ? '' : part.slice(0, colon);
    const key = part.slice(colon + 1);
    if (!isKey(key)) return new Fault('does not decode to 32 bytes');
    if (isWeakKey(key)) return new Fault('is not random');
    if (parts.length > 1 && colon < 0) return new Fault('has several keys without ids');
    if (colon >= 0 && !/^[A-Za-z0-9_-]{1,32}$/.test(id)) return new Fault('has a key id with other characters than letters, digits, - and _');
    if (ids.has(id)) return new Fault('has the same key id twice');
    ids.add(id);
  }
  return value;
});

/** Values copied from examples: one of these words anywhere, or the whole value one run along the keyboard. */
const sampleWords = /change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|with)|your[-_ ]|example|placeholder|^<.*>$|^(.{1,4})\1+$/i;
const sampleValues =
  /^(?:0?123456789(?:0|abcdef)[0-9a-f]*|abcdefghijklmnop[a-z]*|console[-_]?secret[-_]?key|(?:super[-_]?)?secret[-_]?(?:key|password|token|value)*|password\d*)$/i;

export const consoleSecret: Parser<string> = parser('a random value of at least 16 printable characters (openssl rand -hex 32)', (value) => {
  if (typeof value !== 'string' || value.trim() === '') return new Fault('is empty');
  if (!/^[\x21-\x7e]+$/.test(value)) return new Fault('has spaces or characters beyond ASCII');
  if (value.length < 16) return new Fault('is shorter than 16 characters');
  return sampleWords.test(value) || sampleValues.test(value) ? new Fault('is a sample value') : value;
});

/** Length is what protects a password here; guessing is stopped by the sign-in bans. */
export const consolePassword: Parser<string> = parser('8 to 1024 characters without control characters', (value) => {
  if (typeof value !== 'string' || value.trim() === '') return new Fault('is empty');
  if ([...value].length < 8) return new Fault('is shorter than 8 characters');
  if (value.length > 1024 || /\p{Cc}/u.test(value)) return new Fault('is too long or has control characters');
  return sampleWords.test(value) ? new Fault('is a sample value') : value;
});

/** https, or http on this machine. */
export const secureUrl: Parser<string> = parser('a URL that begins with https:// (or http:// on this machine)', (value) => {
  if (typeof value !== 'string' || !URL.canParse(value)) return new Fault('is not a URL');
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return new Fault('holds a credential');
  const local = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
  return protocol === 'https:' || (protocol === 'http:' && local) ? value : new Fault('has another scheme');
});

/** An http(s) address that is a prefix of others: no query, no fragment. */
export const baseUrl: Parser<string> = parser('a URL that begins with http:// or https://, without a query', (value) => {
  const url = urlOf('http', 'https').parse(value);
  if (url instanceof Fault) return url;
  const { search, hash } = new URL(url);
  return search === '' && hash === '' ? url : new Fault('has a query or a fragment');
});

export const fraction: Parser<number> = parser('a number from 0 to 1', (value) =>
  between(0, 1)(asNumber(value, /^(?:\d{1,3}(?:\.\d{0,12})?|\.\d{1,12}|\d(?:\.\d{1,12})?e-\d{1,2})$/)),
);

/** `name=value,name=value`, values percent-encoded where they hold a comma; as pairs, so that no name is special. */
const pairsOf = (accepts: string, name: RegExp, value: RegExp): Parser<readonly (readonly [string, string])[]> =>
  parser(`${accepts}: name=value, several separated by commas, values percent-encoded`, (given) => {
    if (typeof given !== 'string') return new Fault('is not a text');
    const pairs: (readonly [string, string])[] = [];
    for (const part of given.split(',')) {
      const cut = part.indexOf('=');
      const key = part.slice(0, Math.max(0, cut)).trim();
      if (!name.test(key)) return new Fault('holds a part that is not name=value');
      if (!isEscaped(part.slice(cut + 1))) return new Fault('has a % that begins no escape (write %25)');
      const text = decodeURIComponent(part.slice(cut + 1).trim());
      if (!value.test(text)) return new Fault('holds a value with other characters, or none');
      pairs.push([key, text]);
    }
    return pairs;
  });

export const headerPairs = pairsOf('HTTP headers', /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, /^[\x20-\x7e]{1,4096}$/);
export const attributePairs = pairsOf('attributes', /^[A-Za-z0-9_.-]{1,128}$/, /^[\x20-\x7e\u00a0-\uffff]{1,256}$/);

/** Non-empty texts, separated by commas. */
export const words: Parser<readonly string[]> = parser('names separated by commas', (value) => {
  if (typeof value !== 'string') return new Fault('is not a text');
  const parts = value.split(',').map((part) => part.trim());
  return parts.some((part) => part === '') ? new Fault('holds an empty name') : parts;
});
