/** Scan and splice JSON bytes without re-printing them. */
export * from './edit.ts';
