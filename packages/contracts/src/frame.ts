/** Kinds of a bus frame. Unknown kinds are ignored, so that N and N-1 can talk. */
export const frameKind = {
  open: 1,
  accept: 2,
  parcel: 3,
  head: 4,
  data: 5,
  tail: 6,
  whole: 7,
  credit: 8,
  cancel: 9,
  pulse: 10,
  ack: 11,
  error: 12,
  send: 13,
  sendEnd: 14,
  /** Confirms that the opener still wants a stream whose opening the callee read late. */
  go: 15,
  /** Asks which process serves a subject. */
  find: 16,
  /** The answer: this process does. */
  here: 17,
} as const;

/** Flags of a data frame. */
export const frameFlag = {
  /** The last bytes of a message (WebSocket) or of a run of whole events. A frame without it continues in the next one. */
  messageEnd: 1,
  /** Text rather than binary (WebSocket). */
  text: 2,
  /** Whole events of a reply that only add text to blocks already open: they change nothing about how the stream would be terminated. */
  words: 4,
  /** Of a relayed WebSocket: no message of the caller's, but what becomes of the connection (`RealtimeControl`). */
  control: 8,
} as const;
