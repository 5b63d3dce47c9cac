/** About how many tokens a text or a frame's content is. Sound is not parsed: most of such a frame is nothing else. */
import type { WrittenTokens } from '../contract/realtime.ts';

/** What is around the sound in a frame: names, ids, places. */
const aroundSound = 200;
/** Bytes of UTF-8 to a token: a Chinese character is most of one, four Latin letters are one. */
const bytesPerToken = 4;
/** OpenAI's token of sound: 50 ms of 16-bit samples, 24,000 a second (https://platform.openai.com/docs/guides/realtime-costs). */
export const openAiSoundBytes = 2400;

/** Tokens of a text that nobody counted, in fractions. */
export const tokensOfText = (text: string): number => Buffer.byteLength(text) / bytesPerToken;

export const ofText = (text: string): WrittenTokens => ({ text: tokensOfText(text), sound: 0 });

/** `bytesPerToken`: of sound as it is before it is written in base64. */
export const ofSound = (frame: Buffer, bytesPerToken: number): WrittenTokens => ({
  text: 0,
  sound: (Math.max(0, frame.length - aroundSound) * 0.75) / bytesPerToken,
});

export const nothingWritten: WrittenTokens = { text: 0, sound: 0 };
