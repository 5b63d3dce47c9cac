/** Why a rule cannot be taken: the field at fault, dotted inside the rule, and the reason for the admin who wrote it. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
