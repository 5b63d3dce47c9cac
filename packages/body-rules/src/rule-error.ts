/** Why a rule is invalid: the faulty field, as a dotted path inside the rule, and a message for the admin. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
