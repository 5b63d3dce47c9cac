/** About how many tokens a frame's content is. Sound is not parsed: most of such a frame is nothing else. */
import type { WrittenTokens } from '../contract/realtime.ts';

/** What is around the sound in a frame: names, ids, places. */
const aroundSound = 200;
const charactersPerToken = 4;

export const ofText = (text: string): WrittenTokens => ({ text: text.length / charactersPerToken, sound: 0 });

/** `bytesPerToken`: of sound as it is before it is written in base64. */
export const ofSound = (frame: Buffer, bytesPerToken: number): WrittenTokens => ({
  text: 0,
  sound: (Math.max(0, frame.length - aroundSound) * 0.75) / bytesPerToken,
});

export const nothingWritten: WrittenTokens = { text: 0, sound: 0 };
