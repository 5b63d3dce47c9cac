/** A configuration error that stops the start: one line that names the variable, the fault and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
