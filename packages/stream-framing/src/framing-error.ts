/** Framing faults in an upstream's bytes, found before their content is parsed. */
export type FramingFault = 'too_large' | 'malformed';

/** Thrown by `push` and `finish`; every later call throws it again. The message says nothing of the content. */
export class FramingError extends Error {
  readonly code: FramingFault;

  constructor(code: FramingFault, message: string) {
    super(message);
    this.name = 'FramingError';
    this.code = code;
  }
}
