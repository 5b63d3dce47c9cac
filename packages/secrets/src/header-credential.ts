/** Credentials in headers that an admin entered: they must not appear in logs and stored bodies either. */

/** Broader than what is stored sealed: masking one value too many does no harm. */
const likely = /auth|key|token|secret|cookie/i;

/** Whether a header of this name may carry a credential. */
export const mayCarryCredential = (header: string): boolean => likely.test(header);

/** The credential of a header's value, without the word of its scheme. */
export const credentialOf = (value: string): string => value.replace(/^(?:bearer|basic) +/i, '');
