/** Hashes of passwords: argon2id for new ones, bcrypt of imported accounts verified too; a few at once, off the event loop. */
import { GatewayError } from '@model-gateway/contracts/errors';
import argon2 from 'argon2';
import bcrypt from 'bcrypt';

/** Hashes and verifies passwords off the event loop. */
export interface Passwords {
  /** A PHC string. */
  hash(password: string): Promise<string>;
  /** `hash` null (no such user, or no password) costs as much time as a wrong password. `upgrade`: the hash should be made anew. */
  verify(password: string, hash: string | null): Promise<{ ok: boolean; upgrade: boolean }>;
}

/** OWASP's second choice of 2024: 19 MiB, two passes, one lane. */
const parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each takes a thread of libuv's four, which files and host names need too. */
const atOnce = 2;
/** About two seconds of work; later sign-ins are refused and asked to retry. */
const maxLineLength = 64;

const bcryptForm = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** bcrypt reads no more, and stops at a zero byte: a longer password would match by its beginning. */
const bcryptBytes = 72;
/** Libraries write the three parameters in different orders. */
const argonForm = /^\$argon2id\$v=19\$([mtp]=\d{1,7},[mtp]=\d{1,7},[mtp]=\d{1,7})\$[A-Za-z0-9+/]{10,128}\$[A-Za-z0-9+/]{20,128}$/;
const argonBounds: Readonly<Record<string, readonly [number, number]>> = { m: [8, 262_144], t: [1, 10], p: [1, 4] };

/** What is wrong with a hash that an admin brought along, or null. Costs are bounded: the hash decides how long a sign-in takes. */
export function faultOfHash(hash: string): string | null {
  const cost = bcryptForm.exec(hash)?.[1];
  if (cost !== undefined) return Number(cost) >= 4 && Number(cost) <= 14 ? null : 'must have a bcrypt cost from 4 to 14';
  const given = new Map(
    argonForm
      .exec(hash)?.[1]
      ?.split(',')
      .map((one): [string, number] => [one.slice(0, 1), Number(one.slice(2))]),
  );
  if (given.size !== 3) return 'is neither a bcrypt ($2a$, $2b$, $2y$) nor an argon2id hash';
  const isWithin = ([name, value]: [string, number]) => value >= (argonBounds[name]?.[0] ?? 0) && value <= (argonBounds[name]?.[1] ?? 0);
  return [...given].every(isWithin) ? null : 'must have argon2id parameters of at most m=262144, t=10, p=4';
}

export function createPasswords(): Passwords {
  const inLine = createLine();
  const make = (password: string) => argon2.hash(password, parameters);
  let dummy: Promise<string> | undefined;
  const isRight = (password: string, hash: string): Promise<boolean> => {
    if (!bcryptForm.test(hash)) return argon2.verify(hash, password);
    if (Buffer.byteLength(password) > bcryptBytes || password.includes('\0')) return Promise.resolve(false);
    // The three names stand for one algorithm; the library knows two of them.
    return bcrypt.compare(password, `$2b$${hash.slice(4)}`);
  };
  return {
    hash: (password) => inLine(() => make(password)),
    verify: (password, hash) =>
      inLine(async () => {
        if (hash === null) {
          dummy ??= make('no such user');
          await argon2.verify(await dummy, password);
          return { ok: false, upgrade: false };
        }
        const ok = await isRight(password, hash);
        return { ok, upgrade: ok && (bcryptForm.test(hash) || argon2.needsRehash(hash, parameters)) };
      }),
  };
}

/** Runs few at once, the others in order; throws `overloaded` when too many wait. */
function createLine(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running++;
    else {
      if (waiting.length >= maxLineLength) throw new GatewayError('overloaded', { message: 'Too many sign-ins at once: try again in a moment.' });
      // The one that finishes hands its place to the next waiter.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
