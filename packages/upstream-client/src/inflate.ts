/** Unpacks a reply that came compressed although we asked for plain bytes: one layer, capped in size and ratio. */
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export interface InflateLimits {
  /** Largest unpacked reply. */
  maxBytes: number;
  /** Unpacked bytes per packed byte, once more than a mebibyte was unpacked. */
  maxRatio: number;
}
export const inflateLimits: InflateLimits = { maxBytes: 256 * 1024 * 1024, maxRatio: 100 };
const ratioMatters = 1024 * 1024;

const flush = constants.Z_SYNC_FLUSH;
/** Streams flush what they have at every chunk, or events would wait for the block's end. */
const unpackers = {
  gzip: () => createGunzip({ flush }),
  'x-gzip': () => createGunzip({ flush }),
  deflate: () => createInflate({ flush }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => createZstdDecompress({ flush: constants.ZSTD_e_flush }),
} as const;

/** The layer to take off, `null` for none, `'unreadable'` for several layers or an unknown one. */
export function readEncoding(header: string | undefined): keyof typeof unpackers | null | 'unreadable' {
  if (header === undefined) return null;
  const layers = header
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity');
  if (layers.length === 0) return null;
  const only = layers[0] as string;
  return layers.length === 1 && Object.hasOwn(unpackers, only) ? (only as keyof typeof unpackers) : 'unreadable';
}

export interface Inflater {
  /** false: do not send more before `drained`. */
  write(chunk: Buffer): boolean;
  end(): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

interface InflateHandlers {
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
  drained(): void;
}

export function createInflater(encoding: keyof typeof unpackers, handlers: InflateHandlers, limits: InflateLimits = inflateLimits): Inflater {
  const stream = unpackers[encoding]();
  let packed = 0;
  let unpacked = 0;
  let over = false;
  /** The packed data says that it has ended. */
  let unpackedAll = false;
  let finished = false;
  const stop = (error: Error): void => {
    if (over) return;
    over = true;
    stream.destroy();
    handlers.error(error);
  };
  stream.on('data', (chunk: Buffer) => {
    if (over) return;
    unpacked += chunk.length;
    if (unpacked > limits.maxBytes) return stop(new Error(`reply inflates to more than ${limits.maxBytes} bytes`));
    if (unpacked > ratioMatters && unpacked > packed * limits.maxRatio) return stop(new Error(`reply inflates more than ${limits.maxRatio} times`));
    handlers.data(chunk);
  });
  const conclude = (): void => {
    if (over) return;
    // Some encodings go on with a further part there, which would be missing from a reply that counts as whole.
    if (stream.bytesWritten < packed) return stop(new Error('bytes behind the end of the packed reply'));
    over = true;
    handlers.end();
  };
  stream.on('end', () => {
    unpackedAll = true;
    if (finished) conclude();
    // Nothing drains any more, but the rest of the reply has to be read.
    else if (!over) handlers.drained();
  });
  stream.on('error', stop);
  stream.on('drain', handlers.drained);
  return {
    write(chunk) {
      packed += chunk.length;
      if (unpackedAll) conclude();
      return over || stream.write(chunk);
    },
    end() {
      finished = true;
      // A compressed reply without a body (HEAD, 204) has nothing to unpack.
      if (unpackedAll) conclude();
      else if (packed > 0) stream.end();
      else if (!over) {
        over = true;
        stream.destroy();
        handlers.end();
      }
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    destroy() {
      over = true;
      stream.destroy();
    },
  };
}
