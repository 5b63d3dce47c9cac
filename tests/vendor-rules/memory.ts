/** What the vendor issued and stores: thinking signatures, stored responses and their items. Read from the replies that it wrote. */
import { randomBytes } from 'node:crypto';
import type { VendorMemory } from './rule.ts';

interface Made {
  account: string;
  model: string;
}

export interface KeepingMemory extends VendorMemory {
  /** A new thinking signature, valid for this account and model. */
  issueSignature(account: string, model: string): string;
  /** Remembers the signatures, and the ids where the caller asked to store them, in the text of a reply or of a part of it. */
  learn(reply: string, made: Made & { stored: boolean }): void;
}

/** Fields that hold signatures, in all protocols, and fields that hold ids. */
const fieldPattern = /"(signature|thoughtSignature|thought_signature|encrypted_content|data|redactedContent|id|item_id)"\s*:\s*"((?:[^"\\]|\\.)+)"/g;
const storedId = /^(?:resp|msg|rs|fc|ctc|ws|ci|mcp|mcpl|mcpr|cmp)_/;

/** Starts empty: any signature or id that it did not issue is foreign. */
export function createMemory(): KeepingMemory {
  const signatures = new Map<string, Made[]>();
  const responses = new Map<string, string>();
  const items = new Map<string, string>();
  const keep = (signature: string, { account, model }: Made): void => {
    const known = signatures.get(signature) ?? [];
    if (!known.some((one) => one.account === account)) signatures.set(signature, [...known, { account, model }]);
  };
  const learn: KeepingMemory['learn'] = (reply, made) => {
    for (const [, key = '', written = ''] of reply.matchAll(fieldPattern)) {
      const value = JSON.parse(`"${written}"`) as string;
      if (key !== 'id' && key !== 'item_id') keep(value, made);
      else if (made.stored && storedId.test(value)) (value.startsWith('resp_') ? responses : items).set(value, made.account);
    }
  };
  return {
    isOwnSignature: (signature, account) => typeof signature === 'string' && (signatures.get(signature)?.some((one) => one.account === account) ?? false),
    modelOfSignature: (signature) => (typeof signature === 'string' ? (signatures.get(signature)?.[0]?.model ?? null) : null),
    isStoredResponse: (id, account) => typeof id === 'string' && responses.get(id) === account,
    isStoredItem: (id, account) => typeof id === 'string' && items.get(id) === account,
    issueSignature(account, model) {
      const signature = randomBytes(48).toString('base64');
      keep(signature, { account, model });
      return signature;
    },
    learn,
  };
}

/** Accepts every well-formed signature and id: for requests whose earlier replies were not seen, as in recordings. */
export const trustingMemory: VendorMemory = {
  isOwnSignature: (signature) => typeof signature === 'string' && signature !== '',
  modelOfSignature: () => null,
  isStoredResponse: () => true,
  isStoredItem: () => true,
};
