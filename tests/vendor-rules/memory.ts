/** What the vendor made and keeps: proofs of thinking, stored responses and their items. Read from the replies that it wrote. */
import { randomBytes } from 'node:crypto';
import type { VendorMemory } from './rule.ts';

interface Made {
  account: string;
  model: string;
}

export interface KeepingMemory extends VendorMemory {
  /** A new proof of thinking, good for this account and model. */
  issueProof(account: string, model: string): string;
  /** Remembers the proofs, and the ids where the caller asked for them to be stored, in the text of a reply or of a part of it. */
  learn(reply: string, made: Made & { stored: boolean }): void;
}

/** Fields in which proofs travel, in all protocols, and those of ids. */
const fieldPattern = /"(signature|thoughtSignature|thought_signature|encrypted_content|data|redactedContent|id|item_id)"\s*:\s*"((?:[^"\\]|\\.)+)"/g;
const storedId = /^(?:resp|msg|rs|fc|ctc|ws|ci|mcp|mcpl|mcpr|cmp)_/;

/** Starts with nothing: any proof or id that it did not see leave is a stranger's. */
export function createMemory(): KeepingMemory {
  const proofs = new Map<string, Made[]>();
  const responses = new Map<string, string>();
  const items = new Map<string, string>();
  const keep = (proof: string, { account, model }: Made): void => {
    const known = proofs.get(proof) ?? [];
    if (!known.some((one) => one.account === account)) proofs.set(proof, [...known, { account, model }]);
  };
  const learn: KeepingMemory['learn'] = (reply, made) => {
    for (const [, key = '', written = ''] of reply.matchAll(fieldPattern)) {
      const value = JSON.parse(`"${written}"`) as string;
      if (key !== 'id' && key !== 'item_id') keep(value, made);
      else if (made.stored && storedId.test(value)) (value.startsWith('resp_') ? responses : items).set(value, made.account);
    }
  };
  return {
    isOwnProof: (proof, account) => typeof proof === 'string' && (proofs.get(proof)?.some((one) => one.account === account) ?? false),
    modelOfProof: (proof) => (typeof proof === 'string' ? (proofs.get(proof)?.[0]?.model ?? null) : null),
    isStoredResponse: (id, account) => typeof id === 'string' && responses.get(id) === account,
    isStoredItem: (id, account) => typeof id === 'string' && items.get(id) === account,
    issueProof(account, model) {
      const proof = randomBytes(48).toString('base64');
      keep(proof, { account, model });
      return proof;
    },
    learn,
  };
}

/** Takes every well-formed proof and id for its own: for requests whose earlier replies nobody saw, as in recordings. */
export const trustingMemory: VendorMemory = {
  isOwnProof: (proof) => typeof proof === 'string' && proof !== '',
  modelOfProof: () => null,
  isStoredResponse: () => true,
  isStoredItem: () => true,
};
