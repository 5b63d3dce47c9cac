/** Transcriptions with their times: https://platform.openai.com/docs/api-reference/audio/verbose-json-object, and the formats of subtitles. */
import type { Transcription, TranscriptionRequest } from '../../contract/index.ts';

/** SubRip. */
export const writeSrt = ({ segments = [] }: Transcription): string =>
  segments.map(({ start, end, text }, at) => `${at + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${oneLine(text)}\n\n`).join('');

/** https://www.w3.org/TR/webvtt1/ */
export const writeVtt = ({ segments = [] }: Transcription): string =>
  `WEBVTT\n\n${segments.map(({ start, end, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${oneLine(text)}\n\n`).join('')}`;

/** What upstreams say of each segment beside its words and times differs: it is left out. */
export const writeVerbose = ({ segments = [], duration }: Transcription, { task, language }: TranscriptionRequest): object => ({
  task,
  ...(language !== undefined && { language }),
  duration: duration ?? segments.at(-1)?.end ?? 0,
  segments: segments.map(({ start, end, text }, id) => ({ id, start, end, text })),
});

/** A blank line would end the subtitle. Each run of spaces is read once, however long it is. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, (space) => (/[\r\n]/.test(space) ? ' ' : space)).replaceAll('-->', '->');

function time(seconds: number, point: ',' | '.'): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const digits = (value: number, length = 2): string => String(Math.floor(value)).padStart(length, '0');
  return `${digits(ms / 3_600_000)}:${digits((ms / 60_000) % 60)}:${digits((ms / 1000) % 60)}${point}${digits(ms % 1000, 3)}`;
}
