/** Which requests are of a protocol, and what they ask for. */
import type { BodyKind, Operation, StreamForm, TurnsAction } from '@model-gateway/contracts';

/** What a path means. `model` is set when the path holds it; otherwise it is the body's top-level `model`. */
export interface RouteMatch {
  operation: Operation | 'list-models' | 'get-model' | 'turns';
  /** Of `turns`: a call on stored turns or conversations, which names no model. */
  turns?: TurnsRoute;
  /** Decoded once, whole: may hold `/` and `:`. */
  model?: string;
  /** How the reply is framed when the path decides it (gamma). `null`: the body's top-level `stream` decides, or `readStream`. */
  stream: StreamForm | null;
  /** What the request's body may be; absent: JSON. `either`: JSON or a form, by its content type. `raw` needs `model` and `stream` in the path. */
  body?: BodyKind | 'either';
  /** Names of a form's parts of which at least one must be a file. */
  files?: readonly string[];
  /** How the reply is framed, where a body does not say it by `stream`. `value`: a top-level value of JSON, or the text of a form's part. */
  readStream?(value: (key: string) => unknown): StreamForm;
}

/** What is to be done with a stored turn or conversation. Ids are decoded once. */
export interface TurnsRoute {
  action: TurnsAction;
  /** Of the turn or conversation, as the caller gave it. */
  target?: string;
  /** Of a conversation's item. */
  item?: string;
  /** Of a task, where the path names its model. Decoded once. */
  model?: string;
}

/** A route on which callers use a protocol. */
export interface ClientRoute {
  methods: readonly string[];
  /** Exact path, or a prefix that ends in `/`. */
  path: string;
  /** A WebSocket may be opened on this path, too. */
  socket?: true;
  /**
   * Whether this route takes the path, and what it means. `rest` is what follows the prefix, still percent-encoded ('' for exact paths). `headers`
   * tell apart protocols that share a path (`/v1/models`), `method` calls that share one. Null for a method of the route makes the path unknown
   * (404); a method that is not of the route is refused as such (405).
   */
  match(rest: string, query: URLSearchParams, headers: Readonly<Record<string, string | undefined>>, method?: string): RouteMatch | null;
}

/** The paths of a client protocol. Example: `routes: [{ methods: ['POST'], path: '/v1/messages', match: () => ({ operation: 'generate', stream: null }) }]`. */
export interface ClientRoutes {
  routes: readonly ClientRoute[];
  /** Paths of this protocol that are not served, with all below them, or with `verb` those below that end in `:verb`; and what their 404 says. */
  notServed?: readonly { path: string; verb?: string; message: string }[];
  /** Callers leave the model out of later requests of a session: the session's last one is meant. */
  remembersModel?: true;
  /** Operations without translation, and the error text for callers when no upstream takes them verbatim. */
  onlyVerbatim?: Partial<Record<Operation, string>>;
}
