/**
 * Feature flags of a caller (`anthropic-beta`). The vendor knows all of its own; a compatible server or another cloud may answer an unknown one with
 * a 400. Those get only documented flags, and none that the upstream has refused.
 */
import type { UpstreamFault } from '../../chat/event.ts';
import type { Target } from '../../contract/index.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { isFirstParty } from './billing-line.ts';
import { sdkFlags } from './sdk-flags.ts';

interface FlagList {
  source: string;
  /** Year and month. */
  checked: string;
  flags: readonly string[];
}

/** Flags that the vendor documents, for every server. Flags of sign-in and of single agents' experiments are not listed: they mean nothing elsewhere. */
export const documentedFlags: readonly FlagList[] = [
  {
    source: 'https://docs.claude.com/en/api/beta-headers and AnthropicBeta of @anthropic-ai/sdk',
    checked: '2026-11',
    flags: [
      ...sdkFlags,
      // Documented, and not in the SDK's list any more.
      ...['code-execution-2025-08-25', 'effort-2025-11-24', 'advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'],
      ...['tool-examples-2025-10-29', 'fine-grained-tool-streaming-2025-05-14', 'web-fetch-2025-09-10', 'max-tokens-3-5-sonnet-2024-07-15'],
    ],
  },
  { source: 'Claude Code: says which agent calls; servers that sell to its users look at it', checked: '2026-05', flags: ['claude-code-20250219'] },
];
const documented: ReadonlySet<string> = new Set(documentedFlags.flatMap(({ flags }) => flags));

/** The flags of a request that are sent to an upstream. */
export interface Flags {
  kept: string[];
  /** Whether some were left out. */
  dropped: boolean;
}

/** More than any client sends. */
const maxFlags = 64;

/** The flags of a comma-separated list, each once. */
export const listFlags = (text: string | undefined): string[] =>
  text === undefined
    ? []
    : [
        ...new Set(
          text
            .split(',', maxFlags)
            .map((flag) => flag.trim())
            .filter((flag) => flag !== ''),
        ),
      ];

export const flagsOfCaller = (headers: Readonly<Record<string, string>> | undefined): string[] =>
  listFlags(headers?.['anthropic-beta'] || headers?.['beta-beta']);

/**
 * Which of the wanted flags go to this upstream. `usual` are those that it takes (null: all). `extra_config.beta_flags` takes their place: a list,
 * or `"all"` for a relay to the vendor.
 */
export function allowFlags(wanted: readonly string[], target: Target, usual: ReadonlySet<string> | null): Flags {
  const setting = own(target.extraConfig, 'beta_flags');
  const list = asArray(setting);
  const allowed = setting === 'all' ? null : list ? new Set(list.map(asString)) : usual;
  const kept = wanted.filter((flag) => (allowed === null || allowed.has(flag)) && !target.refusedFlags?.has(flag));
  return { kept, dropped: kept.length < wanted.length };
}

/** The same for an upstream of this protocol. */
export const flagsFor = (wanted: readonly string[], target: Target): Flags => allowFlags(wanted, target, isFirstParty(target.baseUrl) ? null : documented);

const aboutFlags = /\bbeta\b|\bflags?\b/i;
const refusal = /unexpected|invalid|unsupported|not (?:yet )?(?:supported|available|enabled|allowed|recogni[sz]ed|valid)|unknown|unrecogni[sz]ed/i;

/** Which flags an upstream's 400 refuses: those it names, or all that were sent when it names none ("invalid beta flag"). */
export function readRefusedFlags(fault: UpstreamFault, sent: readonly string[]): string[] {
  if (fault.class !== 'caller' || sent.length === 0 || !aboutFlags.test(fault.message) || !refusal.test(fault.message)) return [];
  const named = sent.filter((flag) => fault.message.includes(flag));
  return named.length > 0 || !/\b(?:beta flag|anthropic[-_]beta)/i.test(fault.message) ? named : [...sent];
}
