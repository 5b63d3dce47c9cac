/** Master keys, sealing at rest, access-key format. */
export * from './access-key.ts';
export * from './header-credential.ts';
export * from './keyring.ts';
export { generateMasterKey, MasterKeyError } from './master-key.ts';
export * from './secret.ts';
export * from './short-lived-key.ts';
