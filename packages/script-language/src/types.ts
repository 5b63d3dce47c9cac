/** The declarations of what a script sees, as editors show them: the context, and the built-ins by group. */

/** Everything the specification names. */
export const builtinNames = [
  'json_path',
  'set_path',
  'remove_path',
  'add_if_absent_path',
  'append_path',
  'str_len',
  'str_contains',
  'str_replace',
  'str_starts_with',
  'str_trim',
  'regex_match',
  'regex_replace',
  'regex_extract',
  'base64_encode',
  'base64_decode',
  'sha256',
  'json_encode',
  'json_parse',
  'array_sort',
  'array_unique',
  'array_filter_by',
  'array_find',
  'array_pluck',
  'array_sum',
  'deep_clone',
  'deep_merge',
  'uuid',
  'now',
  'now_ms',
  'format_time',
] as const;

export const scriptTypes = `/** A JSON value. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What a script may know of the request. Read-only. */
interface Context {
  /** The name the caller used. */
  readonly clientModel: string;
  /** The name the upstream has for the model. */
  readonly upstreamModel: string;
  readonly upstreamName: string;
  /** The caller's protocol, and the upstream's. */
  readonly sourceProtocol: string;
  readonly targetProtocol: string;
  /** Whether the caller asked for a stream. */
  readonly stream: boolean;
  /** The caller's headers by lower-case name; never a credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's query parameters; never a key. */
  readonly query: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly clientIp: string;
  readonly accessKeyName: string;
  readonly accessKeyGroup: string;
  /** Response scripts only. */
  readonly responseStatus?: number;
  /** Response scripts only: by lower-case name. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Response scripts only: milliseconds since the request arrived. */
  readonly elapsedMs?: number;
  /**
   * Sends the request to another model or load balancer, with its address, protocol and credentials. In request_transform_before at once and to any
   * protocol; in request_transform_after when the script has ended, and to the same protocol only. Not in response_transform.
   */
  useModel(name: string): void;
}

/** Defined by the script; must return the body. */
declare function transform(body: any, context: Context): any;

/** The value at a path (\`messages.0.content\`; \`messages.*.role\` gives a list), or \`fallback\`. */
declare function json_path(value: any, path: string, fallback?: any): any;
/** Sets the value at a path, making objects on the way (for null too), and the element behind a list's last; every match of a \`*\`. Gives the object back. */
declare function set_path<T>(object: T, path: string, value: Json): T;
/** Removes what is at a path. Gives the object back. */
declare function remove_path<T>(object: T, path: string): T;
/** Sets the value at a path when nothing is there. Gives the object back. */
declare function add_if_absent_path<T>(object: T, path: string, value: Json): T;
/** Appends to the list at a path, making it when nothing, or null, is there. Gives the object back. */
declare function append_path<T>(object: T, path: string, value: Json): T;

/** Characters of a text (an emoji is one). */
declare function str_len(text: string): number;
declare function str_contains(text: string, part: string): boolean;
/** Every occurrence of \`part\` replaced; no pattern. */
declare function str_replace(text: string, part: string, replacement: string): string;
declare function str_starts_with(text: string, start: string): boolean;
/** Without white space at both ends. */
declare function str_trim(text: string): string;

/** Whether the pattern matches anywhere. Patterns are RE2's: no look-around, no back-references; \`(?i)\` at the start ignores case. */
declare function regex_match(text: string, pattern: string): boolean;
/** Every match replaced; \`$1\`, \`\${1}\` and \`\${name}\` are its groups. */
declare function regex_replace(text: string, pattern: string, replacement: string): string;
/** A group of the first match (0: the whole), or null. */
declare function regex_extract(text: string, pattern: string, group?: number | string): string | null;

/** Of a text's UTF-8 bytes. */
declare function base64_encode(text: string): string;
/** The text; base64url too. */
declare function base64_decode(base64: string): string;
/** Lower-case hex of a text's UTF-8 bytes. */
declare function sha256(text: string): string;
declare function json_encode(value: any, indent?: number): string;
declare function json_parse(text: string): any;

/** A sorted copy: numbers by size, texts by their characters; by the value at \`path\` of each element when given. */
declare function array_sort<T>(list: T[], path?: string): T[];
/** Without repeated values (compared by value), or repeated values at \`path\`. */
declare function array_unique<T>(list: T[], path?: string): T[];
/** Elements whose value at \`path\` is \`value\`; with a \`*\` in the path, one of them. */
declare function array_filter_by<T>(list: T[], path: string, value: Json): T[];
/** The first of them, or null. */
declare function array_find<T>(list: T[], path: string, value: Json): T | null;
/** The values at \`path\` of all elements that have one; with a \`*\` in the path, all of each. */
declare function array_pluck(list: any[], path: string): any[];
/** Sum of numbers, or of the numbers at \`path\`. */
declare function array_sum(list: any[], path?: string): number;

declare function deep_clone<T>(value: T): T;
/** A new object: \`patch\` over \`base\`, objects merged, everything else replaced. */
declare function deep_merge(base: any, patch: any): any;

declare function uuid(): string;
/** Seconds since the epoch. */
declare function now(): number;
/** Milliseconds since the epoch. */
declare function now_ms(): number;
/** A time in seconds as UTC text: ISO 8601, or by a format with \`%Y %m %d %H %M %S %y %e %j %a %A %b %B %p %I %s %L %F %T %R %Z %z %%\`. */
declare function format_time(seconds: number, format?: string): string;
`;
