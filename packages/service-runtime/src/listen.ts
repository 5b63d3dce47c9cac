/** Listening on a port, with one clear line when it cannot be had. */
import { isIPv6, type Server } from 'node:net';

/** The fault, and the setting to change when it is not the port's. */
const faults: Record<string, readonly [fault: string, setting?: string]> = {
  EADDRINUSE: ['is already in use'],
  EACCES: ['needs more rights than this process has'],
  EAFNOSUPPORT: ['is of a family of addresses that this machine does not have', 'HOST'],
  EAI_AGAIN: ['cannot be looked up now', 'HOST'],
  EINVAL: ['is not an address to listen on', 'HOST'],
  EADDRNOTAVAIL: ['is not an address of this machine', 'HOST'],
  ENOTFOUND: ['is not an address of this machine', 'HOST'],
};

/** Why a start failed, in one line for an operator; the original is the cause. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Errors that are one line for an operator, by name: a port that cannot be had, a database of a newer version or a damaged one. */
const forOperators: ReadonlySet<string> = new Set(['ListenError', 'NewerSchemaError', 'DamagedDatabaseError']);

/** How a failed start is logged: its message alone where an operator can mend it, anything else is a defect with its stack. */
export const startFault = (error: unknown): unknown => (error instanceof Error && forOperators.has(error.name) ? error.message : error);

/**
 * Listens and resolves with the port in use (port 0 asks for any free one). Rejects with a ListenError that names the address and
 * `setting`, the variable to change.
 */
export function listen(server: Server, { port, host, setting }: { port: number; host: string; setting: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const [fault, other] = faults[error.code ?? ''] ?? [`cannot be listened on (${error.code ?? 'unknown'})`];
      reject(new ListenError(`${isIPv6(host) ? `[${host}]` : host}:${port} ${fault}; change ${other ?? setting}`, { cause: error }));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
