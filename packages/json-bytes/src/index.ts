/** Scan and splice JSON bytes without re-printing them. */
export * from './apply-edits.ts';
export { toByteText } from './byte-text.ts';
export { asBuffer, readKey, skipBlanks, skipValue, walkObject } from './cursor.ts';
export * from './delta-template.ts';
export * from './document.ts';
export * from './edit.ts';
export * from './equal.ts';
export * from './find-paths.ts';
export * from './projection.ts';
export * from './record-editor.ts';
export * from './replace-ranges.ts';
export type { ScanFault, ScannedValue, ScanOptions, ScanResult, ScanSuccess, ValueKind } from './scan.ts';
export { scanBody } from './scan.ts';
export * from './sparse-elements.ts';
export * from './splice.ts';
export { type KnownPlaces, spliceParsed } from './top-level.ts';
