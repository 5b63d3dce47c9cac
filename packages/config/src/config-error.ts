/** Why the start stops: one line that names the variable, the value's fault and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
