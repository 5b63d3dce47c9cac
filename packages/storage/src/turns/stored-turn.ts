/** What the repository of turns takes and gives. Content is text that its caller has sealed. */
import type { TurnFacts, TurnStatus } from '@model-gateway/contracts';

/** A turn with its content; null: it has none (yet), or was deleted. */
export interface StoredTurn extends TurnFacts {
  authority: number;
  deleted: boolean;
  /** Of its content, before it was sealed. */
  bytes: number;
  input: string | null;
  response: string | null;
  /** When it was last written, by the store's clock. */
  touchedAt: number;
}

/** Sealed content, its size before sealing, and the ids of the items in it. */
export interface Content {
  sealed: string;
  bytes: number;
  items: readonly string[];
}

/** An item of a conversation. */
export interface StoredItem {
  id: string;
  sealed: string;
  bytes: number;
}

/** One change; all changes of a batch are committed together. */
export type TurnChange =
  | { kind: 'begin'; turn: TurnFacts; input: Content; response: Content | null; expiresAt: number; maxBytes: number }
  /** A turn that is stored only once it has ended. One that was begun ends by it. `append`: as below. */
  | {
      kind: 'put';
      turn: TurnFacts;
      authority: number;
      input: Content;
      response: Content;
      append: readonly StoredItem[];
      expiresAt: number;
      maxBytes: number;
    }
  /** `append`: what the turn's conversation gets, where it has one. */
  | { kind: 'finish'; owner: string; id: string; status: TurnStatus; authority: number; response: Content; append: readonly StoredItem[] }
  | { kind: 'delete'; owner: string; id: string }
  | { kind: 'cancel'; owner: string; id: string }
  | {
      kind: 'create-conversation';
      owner: string;
      id: string;
      createdAt: number;
      expiresAt: number;
      metadata: string;
      items: readonly StoredItem[];
      maxBytes: number;
    }
  | { kind: 'update-conversation'; owner: string; id: string; metadata: string; expiresAt: number }
  | { kind: 'delete-conversation'; owner: string; id: string }
  | { kind: 'add-conversation-items'; owner: string; id: string; items: readonly StoredItem[]; expiresAt: number; maxBytes: number }
  | { kind: 'delete-conversation-item'; owner: string; id: string; item: string };

/** A conversation without its items. */
export interface StoredConversation {
  createdAt: number;
  /** Sealed. */
  metadata: string;
}

/** Which items of a conversation. */
export interface ItemPage {
  after?: string | undefined;
  limit: number;
  order: 'asc' | 'desc';
}
