import { z } from 'zod';

/**
 * A person, as keys and groups name one: an e-mail address, or the name of a console user. Nothing that could end an address or begin another header of
 * a mail, since alerts are sent there.
 */
export const personSchema = z
  .string()
  .max(254)
  .regex(/^[\p{L}\p{N}_+][^\s\p{C}<>(),;:"\\[\]]*$/u, 'must be an e-mail address or the name of a console user');

/** A person, or empty for nobody. */
export const ownerSchema = z.union([z.literal(''), personSchema], 'must be an e-mail address, the name of a console user, or empty');

/** Addresses of mail are compared without case; names of users are what the console gave. */
export const foldPerson = (person: string): string => (person.includes('@') ? person.toLowerCase() : person);
