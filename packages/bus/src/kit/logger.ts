/** What the bus needs of a logger: structural, so that the telemetry package's logger fits without being imported. */
export interface BusLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** Used when the composer gives none: only errors are printed, on stderr, so that none is swallowed. */
export const plainLogger: BusLogger = {
  info() {},
  warn() {},
  error(fields, message) {
    console.error(`bus: ${message}`, fields);
  },
};
