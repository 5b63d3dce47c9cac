/** One thing that a translation could not carry as it was. Recorded with the request; never silent. */
export interface Loss {
  /** Path in the source, `tools.0.strict` or `reasoning.signature`. */
  field: string;
  action: 'dropped' | 'downgraded' | 'emulated' | 'renamed';
  /** One short sentence for an operator. Never holds the caller's content. */
  detail: string;
}
