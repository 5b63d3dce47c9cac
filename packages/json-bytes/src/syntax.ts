/** The code units that JSON gives a meaning: the same numbers in bytes and in text. */

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const braceOpen = 0x7b;
export const braceClose = 0x7d;
export const bracketOpen = 0x5b;
export const bracketClose = 0x5d;

/** Strings shorter than this are walked in JavaScript; only beyond it is a native search worth its call. */
export const nearBytes = 48;

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
