/** Seals and opens thinking proofs for one route: the envelope names model, upstream and account. */
import type { ProtocolId } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import { openSignature, sealSignature } from '@model-gateway/signatures';
import type { Room } from '../room.ts';

export interface Sealer {
  seal(signature: string): string;
  /** null: not to be sent on this route. */
  open(sealed: string): string | null;
}

export function sealer(route: Route, room: Room, protocol: ProtocolId): Sealer {
  const claims = { model: route.model.name, upstream: route.upstream.name, account: accountOf(route), protocol };
  return {
    seal: (signature) => sealSignature({ ...claims, signature }, room.envelopeKeys.sealing),
    open: (sealed) => {
      const opened = openSignature(sealed, room.envelopeKeys.opening, { ...claims, passthrough: route.model.signature_passthrough });
      return opened.ok ? opened.signature : null;
    },
  };
}

/** The account a proof belongs to: named by the admin, else the stable id of the key entry, which survives a rotation of its value. */
const accountOf = (route: Route): string => {
  const key = route.key;
  return key ? (key.account ?? key.id) : '';
};
