/** Messages to and from the row thread. */
import type { RequestBodies } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { RequestStats } from '../requests/request-stats.ts';
import type { PackedRows } from './pack-rows.ts';

/** Calls whose parameters and results are plain values. */
export type PlainCall = Exclude<keyof RequestStats, 'insertRows' | 'prune'>;

export type Question =
  | { id: number; call: PlainCall; parameters: readonly unknown[] }
  | { id: number; call: 'insertRows'; rows: PackedRows }
  | { id: number; call: 'prune'; keep: Parameters<RequestStats['prune']>[0] }
  | { id: number; call: 'insert-bodies'; bodies: RequestBodies }
  | { id: number; call: 'prune-bodies'; before: number }
  /** Ends every pruning early. */
  | { id: number; call: 'stop-pruning' }
  | { id: number; call: 'close' };

export type Answer =
  | { id: number; value: unknown }
  | { id: number; refused: ReturnType<GatewayError['toWire']>; cause: unknown }
  | { id: number; failed: unknown };
