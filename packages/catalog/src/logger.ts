/** The part of a pino-like logger that the catalog uses. */
export interface CatalogLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}
