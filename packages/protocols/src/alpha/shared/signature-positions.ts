/** Finds thinking signatures in messages and deltas of this protocol: vendors and their proxies use five different fields. */
import type { Edit } from '@model-gateway/json-bytes';
import { asArray, asString, own } from '../../kit/read.ts';

type Path = Edit['path'];

/** One signature found in a body: its path, and what is removed with it when it may not be sent. */
export interface FoundSignature {
  path: Path;
  value: string;
  /** The path that is removed when the signature cannot be opened. */
  remove: Path;
  /** It vouches for the call at this place in its message. */
  call?: number;
}

/** Texts one of which is in every body with a signature. */
export const signatureWords = ['reasoning_details', 'thought_signature', 'reasoning_opaque', 'thinking_blocks'] as const;

/** Keys one of which is in every message or delta with a signature. */
const signatureKeys: ReadonlySet<string> = new Set([...signatureWords, 'tool_calls', 'extra_content', 'provider_specific_fields']);
const noSignatures: FoundSignature[] = [];

/** All signatures of a message or delta. */
export function findSignatures(message: unknown, path: Path): FoundSignature[] {
  if (!hasKeyOf(message, signatureKeys)) return noSignatures;
  const opaque = asString(own(message, 'reasoning_opaque'));
  const details = (asArray(own(message, 'reasoning_details')) ?? []).flatMap((detail, index): FoundSignature[] => {
    const entry = [...path, 'reasoning_details', index];
    const data = asString(own(detail, 'data'));
    // Without its data nothing is left of a sealed entry; readable text stays without its signature.
    if (data) return [{ path: [...entry, 'data'], value: data, remove: entry }];
    const signature = asString(own(detail, 'signature'));
    return signature ? [{ path: [...entry, 'signature'], value: signature, remove: [...entry, 'signature'] }] : [];
  });
  const calls = (asArray(own(message, 'tool_calls')) ?? []).flatMap((call, index) =>
    findGoogleSignatures(call, [...path, 'tool_calls', index]).map((found) => ({ ...found, call: index })),
  );
  const blocks = (asArray(own(message, 'thinking_blocks')) ?? []).flatMap((block, index) => findBlockSignature(block, [...path, 'thinking_blocks', index]));
  return [
    ...details,
    ...blocks,
    ...(opaque ? [{ path: [...path, 'reasoning_opaque'], value: opaque, remove: [...path, 'reasoning_opaque'] }] : []),
    ...findGoogleSignatures(message, path),
    ...calls,
  ];
}

function hasKeyOf(value: unknown, keys: ReadonlySet<string>): boolean {
  if (typeof value !== 'object') return false;
  for (const key in value) if (keys.has(key)) return true;
  return false;
}

/** Blocks of the messages protocol that a proxy passes through; a block without its signature is refused, so it is removed whole. */
function findBlockSignature(block: unknown, path: Path): FoundSignature[] {
  const field = own(block, 'type') === 'redacted_thinking' ? 'data' : 'signature';
  const value = asString(own(block, field));
  return value ? [{ path: [...path, field], value, remove: path }] : [];
}

/** `extra_content.google.thought_signature`, and the places where that endpoint and proxies of it repeat it. */
const googlePlaces = [['extra_content', 'google', 'thought_signature'], ['thought_signature'], ['provider_specific_fields', 'thought_signature']] as const;

function findGoogleSignatures(holder: unknown, path: Path): FoundSignature[] {
  return googlePlaces.flatMap((place): FoundSignature[] => {
    const value = asString(place.reduce<unknown>(own, holder));
    return value ? [{ path: [...path, ...place], value, remove: [...path, ...place.slice(0, soleDepth(holder, place))] }] : [];
  });
}

/** How much of a place goes with its value: objects that hold nothing else go too, since most vendors do not know them. */
function soleDepth(holder: unknown, place: readonly string[]): number {
  let depth = place.length;
  while (depth > 1 && Object.keys(place.slice(0, depth - 1).reduce<unknown>(own, holder) as object).length === 1) depth--;
  return depth;
}
