/** One run of an admin's script: the runner's input and its result. The body's bytes travel beside the request, the new texts beside the head. */

export type ScriptSlot = 'request_transform_before' | 'request_transform_after' | 'response_transform';

/** What a script may know of the request, in the script's own spelling. Never a credential. */
export interface ScriptContext {
  clientModel: string;
  upstreamModel: string;
  upstreamName: string;
  sourceProtocol: string;
  targetProtocol: string;
  stream: boolean;
  headers: Record<string, string>;
  query: Record<string, string>;
  requestId: string;
  clientIp: string;
  accessKeyName: string;
  accessKeyGroup: string;
  /** Response scripts only. */
  responseStatus?: number;
  responseHeaders?: Record<string, string>;
  elapsedMs?: number;
}

/** What the script runner is asked to run: the source, its slot, and the facts it may read. */
export interface ScriptRun {
  script: string;
  slot: ScriptSlot;
  context: ScriptContext;
  /** Whose script it is: runs of one owner never keep those of another waiting. */
  owner: string;
}

/** Why a script failed: an error of its own, or a limit it ran into. */
export interface ScriptFault {
  /** A name of the language (`TypeError`) or of a limit (`TooManyOperations`). */
  code: string;
  message: string;
  /** Of the script, from 1. */
  line: number | null;
}

/** How it went. */
export interface ScriptOutcome {
  operations: number;
  execution_time_ms: number;
  /** The model the script selected for a reroute. */
  use_model: string | null;
  fault: ScriptFault | null;
  /**
   * Replacements in the body: for each, in order, its first byte, the byte after its last, and the byte length of the new text; the texts follow one
   * another. null: the bytes are the whole new body.
   */
  places: number[] | null;
}
