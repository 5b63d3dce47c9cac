/** A vendor's hosted search and fetch, as the gateway runs them itself for upstreams that have none. */
import type { Tool, UserPlace } from '../chat/conversation.ts';
import type { ChatEvent } from '../chat/event.ts';

export type HostedKind = 'web_search' | 'web_fetch';

/** A hosted tool as the caller declares it. */
export interface HostedTool {
  kind: HostedKind;
  maxUses?: number;
  /** Domains that alone, or that never, are looked at. */
  allowed?: readonly string[];
  blocked?: readonly string[];
  /** Whom results are for. */
  place?: UserPlace;
  /** The caller asks for little context: fewer results are enough. */
  isBrief?: true;
}

/** One use of such a tool by the model. */
export interface HostedUse {
  /** Minted, with the codec's prefix. */
  id: string;
  kind: HostedKind;
  /** What is searched for, or the address that is fetched. */
  input: string;
  /** Number of the block that shows it; the next number is free for its result. */
  index: number;
}

/** A page that was found or fetched. */
export interface HostedPage {
  url: string;
  title: string;
  text: string;
  age?: string;
}

/** Why a search or a fetch gave nothing. */
export type HostedFault =
  | 'max-uses'
  | 'unavailable'
  | 'too-many-requests'
  | 'invalid-input'
  | 'too-long'
  | 'not-allowed'
  | 'not-accessible'
  | 'unsupported-type'
  | 'too-large';

/** What came of a use; `at`: ISO 8601. */
export type HostedOutcome = { ok: true; pages: readonly HostedPage[]; at: string } | { ok: false; code: HostedFault };

/** Part of a text that cites a page, in UTF-16 units. */
export type CitedRange = readonly [start: number, end: number];

/** Seals what a page says into an opaque token, which the caller keeps and sends back; only this gateway can read it. */
export type SealPage = (text: string) => string;
/** null: not sealed by this gateway, or changed since. */
export type OpenPage = (token: string) => string | null;

/** How one client protocol declares its vendor's hosted tools and shows their uses. */
export interface HostedToolsCodec {
  /** Of the ids of uses. */
  idPrefix: string;
  /** null: another tool. */
  read(tool: Tool): HostedTool | null;
  /** Top-level keys of a request below which it offers such tools: the edge's scan notes where they stand. */
  offerKeys: readonly string[];
  /** Which of them it offers, asked before money is reserved. `value` gives a top-level value, which is untrusted; what makes no sense offers nothing. */
  offered(value: (key: string) => unknown): HostedKind[];
  /** Shows that a use began. Every block but that of `use.index` is closed. */
  begin(use: HostedUse): ChatEvent[];
  /** Shows what came of it; every block is closed. */
  end(use: HostedUse, outcome: HostedOutcome, seal: SealPage): ChatEvent[];
  /** The raw delta of a text block that cites a page. */
  cite(page: HostedPage, range: CitedRange, seal: SealPage): unknown;
}

/** Part of a client adapter. Absent: its vendor has no such tools, or the gateway does not run them. */
export interface ClientHostedTools {
  hostedTools?: HostedToolsCodec;
}
