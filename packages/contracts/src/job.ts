import type { ErrorWire } from './error-wire.ts';
import type { Operation, Plan } from './plan.ts';
import type { ProtocolId } from './protocol-id.ts';
import type { RequestRow } from './row.ts';
import type { Usage } from './usage.ts';

/** The name under which the console calls upstreams for an admin's test; no access key may begin with its prefix. */
export const internalPrefix = 'console:';
export const testIdentity = `${internalPrefix}models-test`;

/** How the reply is framed to the caller. `bytes`: not at all, such as sound, and whatever else passes as it comes with its own content type. */
export type StreamForm = 'whole' | 'sse' | 'json-array' | 'bytes';

/** What the caller's body is: `form` is multipart/form-data, `raw` is anything, which is not looked into. */
export type BodyKind = 'json' | 'form' | 'raw';

/** What the edge sends the translator about one request. The body travels beside it, once. */
export interface Job {
  id: string;
  clientRequestId: string | null;
  startedAt: number;
  accessKey: string;
  /** The stable id of the access key, which owns stored turns. Absent: nothing may be stored. */
  accessKeyId?: string;
  /** Under this name the events of the reply can be taken up again, where the edge keeps them. */
  streamId?: string;
  /**
   * The request came over a WebSocket. Its clients send everything again when the turn that they go on from is not there, so that this is refused
   * (`previous_response_not_found`) instead of answered without it. `repeats`: this many items at the beginning of the input are those of an earlier turn
   * and all before it, repeated from the connection's memory; what is stored goes on from that turn and holds the other items alone.
   */
  socket?: { repeats?: { turn: string; items: number } };
  keyGroup: string;
  clientProtocol: ProtocolId;
  operation: Operation;
  /** The path of the client adapter's route, for adapters with several (`/v1/chat/completions`). */
  path: string;
  /** Of the caller's request; absent: POST. */
  method?: string;
  /** Raw query string without `?` and without a credential. */
  query: string;
  requestedModel: string;
  stream: boolean;
  streamForm: StreamForm;
  /** Absent: JSON. */
  body?: BodyKind;
  /** Request headers that later stages may need: lower case, without credentials and hop-by-hop names. */
  headers: Record<string, string>;
  clientIp: string | null;
  /** Name of the coding agent or chat client that sent the request; absent when it does not identify itself. */
  sessionId?: string;
  plan: Plan;
  /** What the edge reserved of the caller's budgets, in millionths by currency, where the call may begin a task that holds it longer. Absent: nothing. */
  reserved?: Record<string, number>;
  /** Time left for the whole request when the message was sent. */
  deadlineMs: number;
  /** Time between arrival and this job, for the row. */
  queueMs: number;
  /** The span of the edge, where the request is traced. */
  traceparent?: string;
  /** The tail reports what was sent upstream: for the gateway's own test calls only. */
  trace?: true;
  /** What the edge's scan found in the body, so that the translator need not scan a large body again. */
  places: {
    /** Which questions the scan asked: the `id` of `questionsOf` in packages/protocols. A reader that does not know this id scans the body itself. */
    questions: string;
    /** Positions of the top-level values that are present. */
    values: Record<string, { start: number; end: number }>;
    /** Offset of the closing brace. */
    end: number;
    /** Words that are present. */
    words: string[];
    /**
     * Files inside the body, by their bytes alone: bytes that are not text, the most tokens they are charged as, and about how many seconds of sound or film
     * they are. Absent: none, or nobody looked.
     */
    files?: { bytes: number; tokens: number; seconds?: number };
  };
}

/** Sent once, when the translator commits to an upstream's reply (its first content): no other attempt follows. Its headers are safe to pass to the caller. */
export interface ReplyHead {
  status: number;
  headers: Record<string, string>;
  /** The stored turn that the reply is: should the translator die, the edge reports to the store how the reply ended. */
  turn?: { id: string };
  /** Of a stream: what answers, as its row will say. Should the translator die, the edge's row says so, with an estimate of what was used. */
  served?: Pick<RequestRow, 'model' | 'upstream' | 'upstream_model_id' | 'upstream_protocol' | 'routes'>;
  /**
   * The request is run without a caller. What follows is an event stream, which the edge keeps under `Job.streamId`. `answer`: the whole body of the reply
   * to the caller, as JSON text; absent: the caller is the first reader of the stream.
   */
  background?: { answer?: string };
}

/**
 * How a run ended. `row` is the finished request log row. `error` without a head: the edge answers with it in the caller's protocol. `error` after
 * the head: the edge's stream terminator ends the stream with `_gateway_warning`.
 */
export interface ReplyTail {
  row: RequestRow;
  error?: ErrorWire;
  /** Usage metered until the break, for the terminator's final usage record. */
  usage?: Usage;
  /** Id of the task that the call began: the store of tasks holds now what was reserved for the call. */
  task?: string;
  /** Where the job asked for it: the last body sent upstream, without credentials. */
  trace?: { body: string };
}
