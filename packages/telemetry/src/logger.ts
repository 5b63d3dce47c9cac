/** JSON-lines logger over pino that can only write clean (bounded, redacted, plain) data. */
import { type Logger as Pino, pino, stdTimeFunctions } from 'pino';
import { cleanFields, cleanText } from './clean.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { createRedactor, type Redactor } from './redactor.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type Fields = Record<string, unknown>;

/** One line: `log.info('text')` or `log.info({ field }, 'text')`. Errors go in a field (`error`): stack and causes are written. */
export interface LogLine {
  (message: string): void;
  (fields: Fields, message: string): void;
}

/** The logger of every service: JSON lines with levels, fields and redaction. */
export interface Logger {
  trace: LogLine;
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
  fatal: LogLine;
  /** A logger whose every line carries these fields too. */
  child(fields: Fields): Logger;
  /** Whether a line of this level would be written, for callers that must compute its fields. */
  enabled(level: LogLevel): boolean;
  /** What masks secrets in this logger's lines; `add` live secrets here. */
  readonly redactor: Redactor;
  /** Writes the buffered lines, synchronously. Called before the process exits. */
  flush(): void;
}

/** Level, name and destination of a logger. */
export interface LoggerOptions {
  level: LogLevel;
  /** The process or service, on every line. */
  name: string;
  /** Where lines go; standard output when absent. */
  destination?: { write(line: string): void };
  redactor?: Redactor;
}

/** Lines that may wait for a slow reader of standard output; beyond it lines are dropped rather than memory grown. */
const maxBuffered = 16 * 1024 * 1024;

let standard: LineWriter | undefined;

/** One for the process. pino's own destination hangs when it is flushed to a full disk, and ends the process before that. */
function standardOutput(name: string): LineWriter {
  if (standard === undefined) {
    const lostLine = (lines: number): string =>
      `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), name, pid: process.pid, lines, msg: 'log lines were lost: standard output did not take them' })}\n`;
    standard = createLineWriter({ fd: 1, max: maxBuffered, lostLine });
    process.once('exit', standard.flush);
  }
  return standard;
}

/** Creates the process's logger. Levels below `level` cost tens of ns. */
export function createLogger({ level, name, destination, redactor = createRedactor() }: LoggerOptions): Logger {
  const own = destination === undefined ? standardOutput(name) : undefined;
  const options = {
    level,
    base: { name, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const flush = () => own?.flush();
  return wrap(pino(options, own ?? destination!), redactor, flush);
}

function wrap(sink: Pino, redactor: Redactor, flush: () => void): Logger {
  const line = (level: Exclude<LogLevel, 'silent'>): LogLine => {
    function write(first: string | Fields, message?: string): void {
      if (!sink.isLevelEnabled(level)) return;
      if (typeof first === 'string') sink[level](cleanText(first, redactor));
      else sink[level](cleanFields(first, redactor), cleanText(message ?? '', redactor));
    }
    return write as LogLine;
  };
  return {
    trace: line('trace'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('fatal'),
    child: (fields) => wrap(sink.child({ ...cleanFields(fields, redactor) }), redactor, flush),
    enabled: (level) => sink.isLevelEnabled(level),
    redactor,
    flush,
  };
}
