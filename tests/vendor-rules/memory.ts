/** What the vendor made and keeps: proofs of thinking, stored responses and their items. Read from the replies that it wrote. */
import { randomBytes } from 'node:crypto';
import { isObject } from './read.ts';
import type { VendorMemory } from './rule.ts';

interface Made {
  account: string;
  model: string;
}

export interface KeepingMemory extends VendorMemory {
  /** A new proof of thinking, good for this account and model. */
  issueProof(account: string, model: string): string;
  /** Remembers proofs, and ids where the caller asked for them to be stored, in a reply or one event of it. */
  learn(reply: unknown, made: Made & { stored: boolean }): void;
}

/** The fields in which proofs travel, in all protocols. */
const proofFields = new Set(['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content', 'data', 'redactedContent']);
const storedId = /^(?:resp|msg|rs|fc|ctc|ws|ci|mcp|mcpl|mcpr|cmp)_/;
const wellFormedProof = /^[A-Za-z0-9+/_=-]{8,}$/;

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
    if (Array.isArray(reply)) {
      for (const one of reply) learn(one, made);
      return;
    }
    if (!isObject(reply)) return;
    for (const [key, value] of Object.entries(reply)) {
      if (typeof value !== 'string') learn(value, made);
      else if (proofFields.has(key) && wellFormedProof.test(value)) keep(value, made);
      else if (made.stored && (key === 'id' || key === 'item_id') && storedId.test(value))
        (value.startsWith('resp_') ? responses : items).set(value, made.account);
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
