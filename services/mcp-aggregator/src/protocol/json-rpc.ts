/** JSON-RPC messages: read as far as the gateway has to know, the rest kept as it was written. */
import { isObject } from '@model-gateway/contracts';
import { membersOf, parseJson } from './raw-json.ts';

/** One message. Ids, params, results and errors are JSON texts as they came. */
export type Message =
  | { kind: 'request'; id: string; method: string; params: string | undefined }
  | { kind: 'notification'; method: string; params: string | undefined }
  | { kind: 'result'; id: string; result: string }
  | { kind: 'error'; id: string | null; error: string };

const memberNames = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'] as const;

/** What a body holds; null: it is not a JSON-RPC message. */
export function readMessage(json: Buffer): Message | null {
  const members = membersOf(json, memberNames);
  if (members?.jsonrpc !== '"2.0"') return null;
  const { id, method, params, result, error } = members;
  if (id !== undefined && !isId(id)) return null;
  if (method !== undefined) {
    const name = parseJson(method);
    if (typeof name !== 'string' || (params !== undefined && !/^[[{]/.test(params))) return null;
    return id === undefined ? { kind: 'notification', method: name, params } : { kind: 'request', id, method: name, params };
  }
  if (result !== undefined && id !== undefined) return { kind: 'result', id, result };
  if (error !== undefined && isObject(parseJson(error))) return { kind: 'error', id: id ?? null, error };
  return null;
}

/** A string or a number; servers also answer with null. */
const isId = (text: string): boolean => /^(?:"|-?\d|null$)/.test(text);

export const printRequest = (id: string, method: string, params: string | undefined): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
export const printNotification = (method: string, params: string | undefined): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
export const printResult = (id: string, result: string): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
export const printError = (id: string | null, error: string): string => `{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${error}}`;

/** An error that a caller is answered with. The message says nothing of addresses or credentials. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** HTTP status, where it is not the one that goes with the code. */
  readonly status: number | undefined;

  constructor(code: number, message: string, { data, status }: { data?: unknown; status?: number } = {}) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
    this.status = status;
  }

  /** JSON text of the error object. */
  print(): string {
    return JSON.stringify({ code: this.code, message: this.message, ...(this.data !== undefined && { data: this.data }) });
  }
}
