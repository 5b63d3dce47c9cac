/** The part of a pino-like logger that this package uses. */
export interface StateLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}
