/** The full value of an access key, asked for only when somebody wants it: each look is recorded. */
import { call, path } from './client.ts';

export const revealKey = async (name: string): Promise<string> => (await call<{ api_key: string }>(path('access-keys', name, 'api-key'))).api_key;
