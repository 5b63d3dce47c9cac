/** What a rule is: one thing that one vendor refuses, in that vendor's words, and where we know it from. */
import type { ProtocolId } from '@model-gateway/contracts';
import type { Json } from './read.ts';

export const vendors = [
  'openai',
  'deepseek',
  'mistral',
  'qwen',
  'xai',
  'moonshot',
  'zai',
  'minimax',
  'anthropic',
  'google',
  'bedrock',
  'dashscope',
  'kiro',
  'other',
] as const;
/** Who answers. `other`: a host that we know no rules of. */
export type Vendor = (typeof vendors)[number];

export interface VendorRequest {
  /** As the vendor knows it; empty: no model in particular, so rules that hold for some models alone do not apply. */
  modelId: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Json;
  /** Path and query as sent. */
  path: string;
  /** Whose credential it bears, at which protocol's vendor. */
  account: string;
}

export interface Refusal {
  status: number;
  /** The vendor's words. */
  message: string;
  /** The vendor's name for the kind of error, where it has one in the body. */
  type?: string;
  code?: string | number | null;
  /** The field that is wrong, where the vendor names it apart from the message. */
  param?: string | null;
}

/** What the vendor made for its customers, and so knows again when it comes back. */
export interface VendorMemory {
  /** Whether this vendor issued the thinking signature (signature, encrypted content) for that account. */
  isOwnSignature(signature: unknown, account: string): boolean;
  /** The model that issued the signature; null: unknown, so it is not checked. */
  modelOfSignature(signature: unknown): string | null;
  isStoredResponse(id: unknown, account: string): boolean;
  isStoredItem(id: unknown, account: string): boolean;
}

/** A request for a rule's test, by what differs from the usual one. */
export interface Example {
  body: Json;
  modelId?: string;
  headers?: Readonly<Record<string, string>>;
  path?: string;
  /** Judged by a vendor who never issued anything: every signature and id is foreign. */
  newcomer?: true;
}

export interface VendorRule {
  /** Unique; begins with the protocol, and with the vendor where one protocol has several. */
  id: string;
  protocol: ProtocolId;
  /** Absent: everybody who speaks the protocol, but for `other`. */
  vendors?: readonly Vendor[];
  /** Ids of the models that it holds for; absent: all. */
  models?: RegExp;
  /** Relays and self-hosted servers of these models take it: a server on this machine (its `host` header) does. */
  ownAddress?: true;
  /** In one sentence, for the table. */
  what: string;
  /** Address of the documentation or report, or the recording. */
  source: string;
  /** When the source said so: year and month, or the day. */
  date: string;
  /** The source says that it is refused, but nobody was found who quotes the vendor's words: nothing may be built on them. */
  wordsUnverified?: true;
  check(request: VendorRequest, memory: VendorMemory): Refusal | null;
  /** At least one request that it refuses, and one close to it that nothing refuses. */
  refused: readonly Example[];
  accepted: readonly Example[];
}
