/** The first user, `admin`: with `CONSOLE_PASSWORD`, or with a generated password that is shown once when there is no other way to sign in. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ConsoleUser, UserWriter } from '@model-gateway/storage';
import type { SignIn } from './sign-in.ts';

export const firstUserName = 'admin';

export interface FirstUserOptions {
  /** `CONSOLE_PASSWORD`. */
  password: string | null;
  /** Whether `CONSOLE_SECRET_KEY` lets somebody in. */
  hasSecretKey: boolean;
  /** Called once, after the commit, when a password was generated. */
  announce(password: string): void;
}

/** Safe to run in several processes at once: one of them makes the user. */
export async function prepareFirstUser({ store, passwords, sessions }: SignIn, { password, hasSecretKey, announce }: FirstUserOptions): Promise<void> {
  if (password !== null) {
    const userId = await applyPassword({ store, passwords }, password);
    if (userId !== null) sessions.announce(userId);
    return;
  }
  if (hasSecretKey) return;
  const { total } = await store.users.list({ page: 1, pageSize: 1 });
  if (total > 0) return;
  const made = randomBytes(18).toString('base64url');
  const hash = await passwords.hash(made);
  const isFirst = await store.changeUsers(async (writer) => {
    if ((await writer.count()) > 0) return false;
    await insertAdmin(writer, hash);
    return true;
  });
  if (isFirst) announce(made);
}

const insertAdmin = (writer: UserWriter, passwordHash: string): Promise<ConsoleUser> =>
  writer.insert({ id: randomUUID(), username: firstUserName, role: 'admin', enabled: true, passwordHash, identity: null });

/**
 * Sets the admin's password when the variable has another value than the one last applied: so that an operator who changes it gets in, and a
 * restart does not take back what the admin chose since. Gives the user's id when something changed.
 */
async function applyPassword({ store, passwords }: Pick<SignIn, 'store' | 'passwords'>, password: string): Promise<string | null> {
  // Hashing takes long: not while the users are locked.
  const hash = await passwords.hash(password);
  const applied = await store.changeUsers((writer) => writer.appliedPassword());
  if (applied !== null && (await passwords.verify(password, applied)).ok) return null;
  return store.changeUsers(async (writer) => {
    // Another process with the same setting was faster.
    if ((await writer.appliedPassword()) !== applied) return null;
    await writer.setAppliedPassword(hash);
    const admin = await writer.find(firstUserName);
    if (!admin) return (await insertAdmin(writer, hash)).id;
    await writer.update(admin, { role: 'admin', enabled: true, passwordHash: hash });
    await writer.endSessions(admin.id);
    return admin.id;
  });
}
