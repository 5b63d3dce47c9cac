/** What the cloud's exceptions say about whose fault it was: as HTTP errors (a header names them) and as messages inside a stream. */
import type { UpstreamFault } from '../../chat/event.ts';
import type { StreamRecord } from '../../contract/index.ts';
import { saysOverflow } from '../../kit/context-overflow.ts';
import { asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';

type FaultClass = UpstreamFault['class'];

/** By the exception's name in lower case, without `exception`: streams and headers spell it differently. */
const classByName: ReadonlyMap<string, FaultClass> = new Map([
  ['validation', 'caller'],
  ['serialization', 'caller'],
  ['resourcenotfound', 'not-found'],
  ['unknownoperation', 'not-found'],
  ['accessdenied', 'credential'],
  ['unrecognizedclient', 'credential'],
  ['expiredtoken', 'credential'],
  ['invalidsignature', 'credential'],
  ['signaturedoesnotmatch', 'credential'],
  ['incompletesignature', 'credential'],
  ['invalidclienttokenid', 'credential'],
  ['missingauthenticationtoken', 'credential'],
  ['missingauthentication', 'credential'],
  ['notauthorized', 'credential'],
  ['optinrequired', 'account'],
  ['servicequotaexceeded', 'account'],
  ['throttling', 'rate'],
  ['throttled', 'rate'],
  ['toomanyrequests', 'rate'],
  ['serviceunavailable', 'overloaded'],
  ['modelnotready', 'overloaded'],
  ['internalserver', 'server'],
  ['internalfailure', 'server'],
  ['modelerror', 'server'],
  ['modelstreamerror', 'server'],
  ['modeltimeout', 'timeout'],
  ['requesttimeout', 'timeout'],
]);

const classByStatus: ReadonlyMap<number, FaultClass> = new Map([
  [401, 'credential'],
  [403, 'credential'],
  [404, 'not-found'],
  [405, 'server'],
  [408, 'timeout'],
  [424, 'server'],
  [429, 'rate'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
]);

/** Words that tell more than the name; the first that fits, among exceptions of these classes. */
const wordings: readonly { among: readonly FaultClass[]; pattern: { test(words: string): boolean }; class: FaultClass; code?: string; message?: string }[] = [
  {
    among: ['credential', 'caller'],
    pattern: /signature (?:has )?expired|signature not yet current|requesttimetooskewed|request time and the current time is too large/i,
    class: 'server',
    code: 'clock_skew',
    message: 'The clock of this gateway and that of the cloud differ too much for signed requests: set the clock right.',
  },
  {
    among: ['caller', 'server'],
    pattern: { test: saysOverflow },
    class: 'context',
  },
  {
    among: ['caller'],
    pattern: /model identifier is invalid|model version .{0,200}is not supported|reached the end of its life|with on-demand throughput isn.t supported/i,
    class: 'not-found',
  },
  {
    among: ['caller', 'credential'],
    pattern:
      /don't have access to the model|access to this model is not|not authorized to invoke this (?:model|API operation)|INVALID_PAYMENT|^Operation not allowed\.?$/i,
    class: 'account',
  },
];

const maxMessageLength = 2000;

/** `ValidationException:http://…`, `com.amazon.coral#ThrottlingException`, `throttlingException` → its bare name. */
const bareName = (type: string): string => /^(?:[^:]*#)?([A-Za-z]{1,80})/.exec(type.trim())?.[1] ?? '';

/** The fault that an exception of this name, status and words means; any may be missing. */
export function faultOf(type: string | undefined, message: string | undefined, status?: number): UpstreamFault {
  const name = bareName(type ?? '');
  const named = classByName.get(name.toLowerCase().replace(/(?:exception|error|fault)$/, '')) ?? classByName.get(name.toLowerCase().replace(/exception$/, ''));
  const byStatus = status === undefined ? undefined : (classByStatus.get(status) ?? (status >= 500 ? 'server' : 'caller'));
  const kind = named ?? byStatus ?? 'server';
  const words = (message ?? '').slice(0, maxMessageLength);
  const known = wordings.find(({ among, pattern }) => among.includes(kind) && pattern.test(words));
  const code = known?.code ?? (name === '' ? undefined : name);
  return {
    class: known?.class ?? kind,
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
    message: known?.message ?? (words === '' ? 'The upstream reported an error.' : words),
  };
}

export function readError(status: number, headers: Readonly<Record<string, string | undefined>>, body: string): UpstreamFault {
  const json = parse(body);
  const type = headers['x-amzn-errortype'] ?? asString(own(json, '__type')) ?? asString(own(json, 'code'));
  const fault = faultOf(type, messageOf(json) ?? plainText(json, body), status);
  const retryAfterMs = readRetryAfter(headers, fault.message);
  return { ...fault, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** An exception inside a stream. `originalStatusCode` is the status of the model behind the cloud. */
export function streamFault(record: StreamRecord): UpstreamFault {
  const original = own(record.json, 'originalStatusCode');
  const fault = faultOf(record.event, messageOf(record.json) ?? asString(own(record.json, 'originalMessage')));
  return { ...fault, ...(typeof original === 'number' && { status: original }) };
}

const messageOf = (json: unknown): string | undefined => asString(own(json, 'message')) ?? asString(own(json, 'Message'));

/** A page of HTML says nothing to a caller. */
const plainText = (json: unknown, body: string): string | undefined => (json !== undefined || body.trim().startsWith('<') ? undefined : body.trim());

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Not JSON: its text is the message.
    return undefined;
  }
}
